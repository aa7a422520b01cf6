-- fimlsp in Neovim's own LSP client. Put this file into ~/.config/nvim/plugin/.
--
-- From 0.12 on, Neovim shows inline completions: <Tab> accepts. On 0.11 the server is attached, but its completions
-- are not shown.

vim.lsp.config('fimlsp', {
  cmd = { 'fimlsp', '--stdio' },
  filetypes = { 'python' },
  root_markers = { 'pyproject.toml', 'setup.py', '.git' },
  -- The server's options go here, as in: settings = { fimlsp = { maxTokens = 32, oneLine = 'always' } },
})
vim.lsp.enable('fimlsp')

local inline_completion = vim.lsp.inline_completion
if not inline_completion then
  return
end

--- Let the item replace what was typed since it was asked for, when that is how it begins; Neovim would insert all
--- of it beside that (neovim issue 36529). An item that the text has left behind is not accepted.
local function without_the_typed(item)
  local range = item.range
  local row, column = unpack(vim.api.nvim_win_get_cursor(0))
  if not range or row - 1 ~= range.start_row or column < range.start_col then
    return nil
  end
  local typed = vim.api.nvim_get_current_line():sub(range.start_col + 1, column)
  if not vim.startswith(item.insert_text, typed) then
    return nil
  end
  item.range = vim.range(range.buf, range.start_row, range.start_col, range.start_row, column)
  return item
end

inline_completion.enable()
vim.keymap.set('i', '<Tab>', function()
  if not inline_completion.get({ on_accept = without_the_typed }) then
    return '<Tab>'
  end
end, { expr = true, desc = 'Accept the inline completion, or insert a tab' })
