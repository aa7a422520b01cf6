--- Neovim's own inline completion, which is there from 0.12 on: it shows suggestions and asks while one types.
---
--- What it lacks is added here: it can be asked by hand, and what the text has left behind is not shown. Accepting is
--- ours for all versions (see `init`), as Neovim's cannot accept a part, and inserts again what was typed since it had
--- asked (neovim issue 36529).

local client = require('fimlsp.client')
local ghost = require('fimlsp.ghost')
local shown = require('fimlsp.shown')
local status = require('fimlsp.status')
local suggestion = require('fimlsp.suggestion')

local M = {}

local BY_HAND = 1
local inline_completion = vim.lsp.inline_completion
local namespace = vim.api.nvim_create_namespace('nvim.lsp.inline_completion')
--- How many candidates to go on in the next answer.
local step = 0

--- Take the text from the screen.
function M.hide()
  vim.api.nvim_buf_clear_namespace(0, namespace, 0, -1)
  ghost.hide()
end

--- Whether Neovim draws it right: in the line in which it was given, and with all of what is left. It takes what
--- follows the cursor for typed when that is how the suggestion goes on.
---@param rest string
local function is_drawn_right(rest)
  local row, col = suggestion.cursor()
  local candidate = assert(shown.candidate())
  local following = vim.api.nvim_get_current_line():sub(col + 1, col + 1)
  return row == candidate.row and (following == '' or not vim.startswith(rest, following))
end

--- Neovim has drawn before this, and draws what it has until the next answer, be it as wrong as may be.
function M.draw()
  local rest = vim.fn.pumvisible() == 0 and shown.rest()
  ghost.hide()
  if not rest then
    shown.forget()
    M.hide()
  elseif not is_drawn_right(rest) then
    M.hide()
    ghost.draw()
  end
end

--- The answer that Neovim has shown just now.
---@param buffer integer
---@param items lsp.InlineCompletionItem[]
local function answered(buffer, items)
  shown.forget()
  if buffer ~= vim.api.nvim_get_current_buf() or vim.fn.mode() ~= 'i' or #items == 0 then
    return
  end
  local at = vim.range.lsp(buffer, items[1].range, assert(client.of(buffer)).offset_encoding)
  shown.set(buffer, suggestion.all(items, at.start_row, at.start_col))
  M.draw()
  local count = step
  step = 0
  if count ~= 0 and #items > 1 then
    M.select(count)
  end
end

--- Let Neovim ask, by hand: it does so a moment after the cursor has moved.
---@param count integer
local function ask_by_hand(count)
  client.next_kind = BY_HAND
  step = count
  vim.api.nvim_exec_autocmds('CursorMovedI', { buffer = vim.api.nvim_get_current_buf(), modeline = false })
end

--- Begin to suggest in a buffer.
---@param buffer integer
function M.attach(buffer)
  client.on_answer = answered
  inline_completion.enable(true, { bufnr = buffer })
  local group = vim.api.nvim_create_augroup('fimlsp.native.' .. buffer, {})
  vim.api.nvim_create_autocmd({ 'CursorMovedI', 'TextChangedP' }, {
    group = group,
    buffer = buffer,
    callback = M.draw,
  })
  vim.api.nvim_create_autocmd('InsertLeave', {
    group = group,
    buffer = buffer,
    callback = function()
      shown.forget()
      M.hide()
      step, client.next_kind = 0, nil
      status.ended()
    end,
  })
end

--- Suggest in a buffer no more.
---@param buffer integer
function M.detach(buffer)
  vim.api.nvim_create_augroup('fimlsp.native.' .. buffer, {})
  inline_completion.enable(false, { bufnr = buffer })
  shown.forget()
  M.hide()
end

--- Show the candidate *count* further on; more are asked for when there is but one.
---@param count integer
function M.select(count)
  local _, candidates = shown.place()
  if candidates > 1 then
    shown.step(count)
    inline_completion.select({ count = count })
    M.draw()
  else
    ask_by_hand(count)
  end
end

--- Ask now.
function M.trigger()
  ask_by_hand(0)
end

return M
