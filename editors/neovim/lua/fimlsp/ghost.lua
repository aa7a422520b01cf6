--- The grey text: what is left of the suggestion, drawn behind the cursor.

local shown = require('fimlsp.shown')
local suggestion = require('fimlsp.suggestion')

local M = {}

local namespace = vim.api.nvim_create_namespace('fimlsp')

--- Take it from the screen.
function M.hide()
  vim.api.nvim_buf_clear_namespace(0, namespace, 0, -1)
end

--- Draw it, or nothing when there is none.
---@param is_chosen? boolean Whether to say which of how many it is.
function M.draw(is_chosen)
  M.hide()
  local rest = shown.rest()
  if not rest then
    return
  end
  local lines = vim.tbl_map(function(line)
    return { { line, 'FimlspSuggestion' } }
  end, vim.split(rest, '\n'))
  if is_chosen then
    table.insert(lines[#lines], { (' (%d/%d)'):format(shown.place()), 'FimlspCount' })
  end
  local row, col = suggestion.cursor()
  vim.api.nvim_buf_set_extmark(0, namespace, row, col, {
    virt_text = lines[1],
    virt_text_pos = 'inline',
    virt_lines = vim.list_slice(lines, 2),
    hl_mode = 'combine',
  })
end

return M
