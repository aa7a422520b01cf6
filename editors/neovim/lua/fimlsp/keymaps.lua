--- The insert-mode keys of a buffer. A key that has nothing to do does what it did before.

local config = require('fimlsp.config')

local M = {}

local function press(keys, is_remapped)
  local codes = vim.api.nvim_replace_termcodes(keys, true, true, true)
  vim.api.nvim_feedkeys(codes, is_remapped and 'mi' or 'ni', false)
end

--- Do what *key* did, *before* being its mapping as `maparg` gives it.
---@param before table
---@param key string
local function otherwise(before, key)
  if vim.tbl_isempty(before) then
    press(key, false)
    return
  end
  local keys = before.callback and before.callback() or before.rhs
  if before.expr == 1 and not before.callback then
    keys = vim.api.nvim_eval(before.rhs)
  end
  if type(keys) == 'string' and (before.expr == 1 or not before.callback) then
    press(keys, before.noremap == 0)
  end
end

--- Map the keys in a buffer. *actions* are by the names of the option keymaps; false says that there was nothing to do.
---@param buffer integer
---@param actions table<string, fun(): boolean?>
function M.set(buffer, actions)
  for name, action in pairs(actions) do
    local key = config.current.keymaps[name]
    local before = key and vim.fn.maparg(key, 'i', false, true) or {}
    if key and not vim.startswith(before.desc or '', 'fimlsp: ') then
      vim.keymap.set('i', key, function()
        if action() == false then
          otherwise(before, key)
        end
      end, { buffer = buffer, desc = 'fimlsp: ' .. name:gsub('_', ' ') })
    end
  end
end

return M
