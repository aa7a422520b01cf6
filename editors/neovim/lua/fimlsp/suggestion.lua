--- A suggestion and the text around the cursor: what of it was typed already, and parts of the rest.

local M = {}

---@class fimlsp.Suggestion
---@field text string All of it, as it was given.
---@field closing string What it ends with, such as brackets, in front of which the cursor is to stay.
---@field row integer Where it was given: the line, from 0.
---@field col integer And the byte in it, from 0.
---@field id? string The server's name for it.
---@field command? lsp.Command To be run when all of it is accepted.

--- The text of a snippet, and what of it stands behind the place for the cursor.
---@param snippet string
---@return string text, string closing
local function of_snippet(snippet)
  local before, closing = snippet:match('^(.*)%$0(.*)$')
  before, closing = before:gsub('\\([\\$}])', '%1'), closing:gsub('\\([\\$}])', '%1')
  return before .. closing, closing
end

--- The suggestions of items of the protocol, given for a place.
---@param items lsp.InlineCompletionItem[]
---@param row integer
---@param col integer
---@return fimlsp.Suggestion[]
function M.all(items, row, col)
  return vim.tbl_map(function(item)
    local id = item.command and item.command.arguments and item.command.arguments[1]
    local text, closing = item.insertText, ''
    if type(text) == 'table' then
      text, closing = of_snippet(text.value)
    end
    text = text:gsub('\r\n', '\n') -- a buffer has lines, whatever ends them in its file
    return { text = text, closing = closing, row = row, col = col, id = id, command = item.command }
  end, items)
end

--- The cursor of the current window: line and byte, both from 0.
---@return integer row, integer col
function M.cursor()
  local row, col = unpack(vim.api.nvim_win_get_cursor(0))
  return row - 1, col
end

--- What is left of it at the cursor; nil when the text has gone another way.
---@param suggestion fimlsp.Suggestion
---@return string?
function M.rest(suggestion)
  local row, col = M.cursor()
  local is_behind = row > suggestion.row or (row == suggestion.row and col >= suggestion.col)
  if not is_behind or row - suggestion.row > #vim.split(suggestion.text, '\n') then
    return nil
  end
  local ok, lines = pcall(vim.api.nvim_buf_get_text, 0, suggestion.row, suggestion.col, row, col, {})
  local typed = ok and table.concat(lines, '\n')
  if not typed or not vim.startswith(suggestion.text, typed) then
    return nil
  elseif #typed + #suggestion.closing >= #suggestion.text then
    return nil
  end
  return suggestion.text:sub(#typed + 1)
end

--- Insert *text* at the cursor, which is behind it then.
---@param text string
function M.insert(text)
  local row, col = M.cursor()
  local lines = vim.split(text, '\n')
  vim.api.nvim_buf_set_text(0, row, col, row, col, lines)
  vim.api.nvim_win_set_cursor(0, { row + #lines, #lines[#lines] + (#lines == 1 and col or 0) })
end

--- Put the cursor *count* bytes back in its line.
---@param count integer
function M.step_back(count)
  local row, col = M.cursor()
  vim.api.nvim_win_set_cursor(0, { row + 1, col - count })
end

--- All of *text*.
---@param text string
---@return string
function M.whole(text)
  return text
end

--- The next word of *text* with the white space before it; signs count one by one.
---@param text string
---@return string
function M.word(text)
  local blank, after = text:match('^(%s*)(.*)$')
  local word = after:match('^[%w_\128-\255]+') or after:sub(1, 1)
  return blank .. word
end

--- The rest of the first line of *text*, or the next line when nothing is left of the first.
---@param text string
---@return string
function M.line(text)
  return text:match('^\n*[^\n]*')
end

return M
