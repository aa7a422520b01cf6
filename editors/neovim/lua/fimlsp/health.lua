--- :checkhealth fimlsp

local client = require('fimlsp.client')
local config = require('fimlsp.config')
local status = require('fimlsp.status')

local M = {}

local function check_neovim()
  if vim.fn.has('nvim-0.10') == 0 then
    vim.health.error('Neovim 0.10 or newer is needed')
  elseif config.is_native() then
    vim.health.ok("suggestions are shown by Neovim's inline completion")
  else
    vim.health.ok('suggestions are shown as extmarks')
  end
end

local function check_server()
  local command = config.command()
  local shown = table.concat(command, ' ')
  if vim.fn.executable(command[1]) == 0 then
    vim.health.error(shown .. ' is no program here', {
      'Activate the Python environment that has fimlsp before you start Neovim,',
      "or name the program: require('fimlsp').setup({ cmd = { '/path/to/fimlsp' } })",
      'To install it: python -m pip install fimlsp',
    })
    return
  end
  local result = vim.system(vim.list_extend(vim.deepcopy(command), { '--version' }), { text = true, timeout = 20000 }):wait()
  if result.code == 0 then
    vim.health.ok(('%s: %s'):format(shown, vim.trim(result.stdout)))
  else
    vim.health.error(shown .. ' --version fails', vim.split(vim.trim(result.stderr or ''), '\n'))
  end
end

local function check_client()
  local clients = vim.lsp.get_clients({ name = 'fimlsp' })
  if #clients == 0 then
    vim.health.info('no server is running: it starts with the first Python buffer, after setup()')
    return
  end
  vim.health.ok(('the server runs; %s'):format(status.sentence()))
  if status.latest.model then
    vim.health.info('model: ' .. status.latest.model)
  end
  if status.latest.state == 'none' or status.latest.state == 'stopped' then
    vim.health.info('The whole story: :Fimlsp log, :Fimlsp doctor')
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
