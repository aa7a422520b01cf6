--- The user's options and their defaults.

local M = {}

---@class fimlsp.Keymaps Insert-mode keys; false for no key.
---@field accept string|false
---@field accept_word string|false
---@field accept_line string|false
---@field next string|false
---@field previous string|false
---@field trigger string|false
---@field dismiss string|false

---@class fimlsp.Config
---@field cmd? string[] The server's command without `--stdio`; nil: see `fimlsp.server`.
---@field wheelhouse? string A folder of wheels that `:Fimlsp install` uses instead of the network.
---@field settings table<string, any> The server's options by name, and debounceMs.
---@field filetypes string[] Where the server is attached; its option languages selects those that are completed.
---@field display 'auto'|'native'|'extmark' Who shows the text: Neovim itself (from 0.12 on), or this plugin.
---@field keymaps fimlsp.Keymaps
local defaults = {
  cmd = nil,
  settings = {},
  filetypes = {
    'python', 'json', 'lua', 'go', 'typescript', 'typescriptreact', 'javascript', 'javascriptreact', 'toml', 'slua',
  },
  display = 'auto',
  keymaps = {
    accept = '<Tab>',
    accept_word = '<C-Right>',
    accept_line = '<M-Right>',
    next = '<M-]>',
    previous = '<M-[>',
    trigger = '<M-\\>',
    dismiss = '<C-]>',
  },
}

---@type fimlsp.Config
M.current = vim.deepcopy(defaults)

--- Set the user's options.
---@param options? table
function M.set(options)
  options = options or {}
  for name, value in pairs({ cmd = options.cmd, settings = options.settings, filetypes = options.filetypes, keymaps = options.keymaps }) do
    if type(value) ~= 'table' then
      error(('fimlsp: the option %s must be a table, not %s'):format(name, vim.inspect(value)), 0)
    end
  end
  if not vim.tbl_contains({ 'auto', 'native', 'extmark', 'nil' }, tostring(options.display)) then
    error(('fimlsp: display must be auto, native or extmark, not %s'):format(vim.inspect(options.display)), 0)
  end
  for name in pairs(options) do
    if name ~= 'cmd' and name ~= 'wheelhouse' and defaults[name] == nil then
      error(('fimlsp: unknown option %s; see :help fimlsp-options'):format(name), 0)
    end
  end
  M.current = vim.tbl_deep_extend('force', vim.deepcopy(defaults), options)
end

--- The pause after a keystroke in milliseconds.
---@return integer
function M.debounce()
  return M.current.settings.debounceMs or 150
end

--- The server's options. Empty they are an object as well: an empty table of Lua's would be sent as a list.
---@return table
function M.settings()
  return next(M.current.settings) and M.current.settings or vim.empty_dict()
end

--- True if Neovim shows the text itself.
---@return boolean
function M.is_native()
  return M.current.display ~= 'extmark' and vim.lsp.inline_completion ~= nil
end

return M
