--- The command :Fimlsp and its subcommands.

local M = {}

local function open_scratch(name, lines)
  vim.cmd('silent! bwipeout ' .. vim.fn.fnameescape(name))
  vim.cmd('botright new')
  vim.bo.buftype, vim.bo.bufhidden, vim.bo.swapfile = 'nofile', 'wipe', false
  vim.api.nvim_buf_set_lines(0, 0, -1, false, lines)
  vim.bo.modifiable = false
  vim.api.nvim_buf_set_name(0, name)
  vim.cmd('normal! G')
end

local function show_log()
  open_scratch('fimlsp://log', require('fimlsp.client').log)
end

local function show_statistics()
  local is_known = require('fimlsp.client').execute('fimlsp.server.statistics', {}, function(result)
    open_scratch('fimlsp://statistics', require('fimlsp.statistics').lines(result))
  end)
  if not is_known then
    vim.notify('fimlsp: no server is running')
  end
end

local function reload()
  if not require('fimlsp.client').execute('fimlsp.server.reload', {}) then
    require('fimlsp').restart()
  end
end

local function run_doctor()
  local server = require('fimlsp.server')
  local command = server.command()
  if not command then
    vim.notify('fimlsp: ' .. server.missing(), vim.log.levels.WARN)
    return
  end
  command = vim.list_extend(vim.deepcopy(command), { 'doctor' })
  vim.cmd('botright new')
  if vim.fn.has('nvim-0.11') == 1 then
    vim.fn.jobstart(command, { term = true })
  else
    vim.fn.termopen(command)
  end
end

local function install(extra)
  require('fimlsp.install').run(extra, function()
    vim.notify('fimlsp: the server is installed')
    require('fimlsp').restart()
  end)
end

--- A model in the menu.
---@param model table
---@return string
local function line_of(model)
  local verdict = ({ [true] = 'fills in the middle', [false] = 'does not fill in the middle' })[model.fills_in]
  local parts = { model.program }
  if type(model.size) == 'number' then
    table.insert(parts, ('%.1f GB'):format(model.size / 1e9))
  end
  table.insert(parts, verdict or 'detected when it is loaded')
  if type(model.remark) == 'string' then
    table.insert(parts, model.remark)
  end
  return ('%s (%s)'):format(model.name == '' and 'bundled' or model.name, table.concat(parts, '; '))
end

local function choose_model()
  local is_known = require('fimlsp.client').execute('fimlsp.server.models', {}, function(result)
    local options = { prompt = 'fimlsp: which model writes the suggestions?', format_item = line_of }
    vim.ui.select(result.models, options, function(model)
      if model then
        require('fimlsp').use_model(model.name)
      end
    end)
  end)
  if not is_known then
    vim.notify('fimlsp: no server is running')
  end
end

---@type table<string, fun(argument?: string)>
M.all = {
  install = install,
  model = choose_model,
  toggle = function()
    require('fimlsp').toggle()
  end,
  buffer = function()
    require('fimlsp').toggle_buffer()
  end,
  trigger = function()
    require('fimlsp').trigger()
  end,
  restart = function()
    require('fimlsp').restart()
  end,
  status = function()
    vim.notify('fimlsp: ' .. require('fimlsp.status').sentence())
  end,
  statistics = show_statistics,
  reload = reload,
  doctor = run_doctor,
  log = show_log,
}

--- Run a subcommand, by default `status`.
---@param name? string
---@param argument? string
function M.run(name, argument)
  local command = M.all[name or 'status']
  if command then
    command(argument)
  else
    vim.notify(('fimlsp: unknown command :Fimlsp %s'):format(name), vim.log.levels.ERROR)
  end
end

--- Names that start with *lead*.
---@param lead string
---@return string[]
function M.complete(lead)
  local names = vim.tbl_filter(function(name)
    return vim.startswith(name, lead)
  end, vim.tbl_keys(M.all))
  table.sort(names)
  return names
end

return M
