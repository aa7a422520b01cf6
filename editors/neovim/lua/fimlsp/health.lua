--- :checkhealth fimlsp

local client = require('fimlsp.client')
local config = require('fimlsp.config')
local server = require('fimlsp.server')
local status = require('fimlsp.status')

local M = {}

local function check_neovim()
  if vim.fn.has('nvim-0.10') == 0 then
    vim.health.error('Neovim 0.10 or newer is required')
  elseif config.is_native() then
    vim.health.ok("suggestions are shown by Neovim's inline completion")
  else
    vim.health.ok('suggestions are shown as extmarks')
  end
end

local function check_server()
  local command = server.command()
  if not command then
    vim.health.error(server.missing(), {
      ':Fimlsp install sets up the server in its own environment, with any Python from 3.10 on,',
      'or activate a Python environment with fimlsp before you start Neovim,',
      "or name the program: require('fimlsp').setup({ cmd = { '/path/to/fimlsp' } })",
    })
    return
  end
  local shown = table.concat(command, ' ')
  local result = vim.system(vim.list_extend(vim.deepcopy(command), { '--version' }), { text = true, timeout = 20000 }):wait()
  if result.code == 0 then
    vim.health.ok(('%s: %s'):format(shown, vim.trim(result.stdout)))
  else
    local advice = vim.split(vim.trim(result.stderr or ''), '\n')
    table.insert(advice, ':Fimlsp install makes the plugin\'s own environment, again if it is broken')
    vim.health.error(shown .. ' --version fails', advice)
  end
  local environment, version = server.environment(), server.version_of_clone()
  if environment and command[1] == environment.python and version and version ~= environment.version then
    vim.health.warn(('the server is %s and the plugin %s'):format(environment.version, version), { ':Fimlsp install' })
  end
end

local function check_client()
  local clients = vim.lsp.get_clients({ name = 'fimlsp' })
  if #clients == 0 then
    vim.health.info('no server is running: it starts with the first Python buffer, after setup()')
    return
  end
  vim.health.ok(('the server is running; %s'):format(status.sentence()))
  if status.latest.model then
    local learnt = status.latest.learnt and (' (%s)'):format(status.latest.learnt) or ''
    vim.health.info('model: ' .. status.latest.model .. learnt)
  end
  if status.latest.problem then
    local advice = status.latest.missing and { ':Fimlsp install ' .. status.latest.missing } or nil
    vim.health.warn(status.latest.problem, advice)
  end
  if status.latest.names then
    vim.health.info('names in scope are unknown: ' .. status.latest.names)
  end
  if status.latest.state == 'none' or status.latest.state == 'stopped' then
    vim.health.info('For details: :Fimlsp log, :Fimlsp doctor')
  end
end

local function check_keys()
  for name, key in pairs(config.current.keymaps) do
    local mapping = key and vim.fn.maparg(key, 'i', false, true) or {}
    if key and client.of() and not vim.startswith(mapping.desc or '', 'fimlsp') then
      vim.health.warn(('%s is not mapped to %s in this buffer'):format(key, name))
    end
  end
end

--- Called by :checkhealth.
function M.check()
  vim.health.start('fimlsp')
  check_neovim()
  check_server()
  check_client()
  check_keys()
end

return M
