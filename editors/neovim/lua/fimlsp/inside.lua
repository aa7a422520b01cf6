--- Where an accepted suggestion left the cursor inside: what it closed behind the cursor can be typed over.

local suggestion = require('fimlsp.suggestion')

local M = {}

---@type { buffer: integer, row: integer, closing: string, right: string }?
local taken

--- The cursor stands before the *closing* of a suggestion that was accepted.
---@param closing string
function M.enter(closing)
  local row, col = suggestion.cursor()
  local right = vim.api.nvim_get_current_line():sub(col + #closing + 1)
  taken = { buffer = vim.api.nvim_get_current_buf(), row = row, closing = closing, right = right }
end

--- Whether *char*, typed at the cursor, is the next of what was closed there.
---@param char string
---@return boolean
local function is_next(char)
  local row, col = suggestion.cursor()
  if not taken or taken.buffer ~= vim.api.nvim_get_current_buf() or taken.row ~= row then
    return false
  end
  local behind = vim.api.nvim_get_current_line():sub(col + 1)
  local left = #behind - #taken.right
  local is_inside = left > 0 and left <= #taken.closing
  return is_inside and behind == taken.closing:sub(-left) .. taken.right and behind:sub(1, 1) == char
end

--- Go over a sign instead of typing it once more.
function M.watch()
  vim.api.nvim_create_autocmd('InsertCharPre', {
    group = vim.api.nvim_create_augroup('fimlsp_inside', {}),
    callback = function()
      if is_next(vim.v.char) then
        vim.v.char = ''
        vim.api.nvim_feedkeys(vim.keycode('<C-g>U<Right>'), 'ni', false)
      end
    end,
  })
end

return M
