--- Shows suggestions as virtual text and asks while one types, where Neovim has no inline completion of its own.

local client = require('fimlsp.client')
local ghost = require('fimlsp.ghost')
local pace = require('fimlsp.pace')
local shown = require('fimlsp.shown')
local status = require('fimlsp.status')
local suggestion = require('fimlsp.suggestion')

local M = {}

local BY_HAND, AUTOMATIC = 1, 2
local timer = assert(vim.uv.new_timer())
---@type fun()?
local cancel

M.draw = ghost.draw
M.hide = ghost.hide

--- Drop what was asked for, or is to be.
local function stop_asking()
  timer:stop()
  if cancel then
    cancel()
    cancel = nil
  end
end

--- Ask at the cursor; an answer that comes when the text or the cursor has changed is dropped.
---@param kind integer
---@param step integer How many candidates to go on from the first.
local function ask(kind, step)
  stop_asking()
  local buffer = vim.api.nvim_get_current_buf()
  if not client.is_on(buffer) then
    return
  end
  local function place()
    return { vim.api.nvim_get_current_buf(), vim.b.changedtick, suggestion.cursor() }
  end
  local asked = place()
  cancel = client.ask(kind, function(items)
    if vim.fn.mode() == 'i' and vim.deep_equal(place(), asked) then
      cancel = nil
      shown.set(buffer, suggestion.all(items, asked[3], asked[4]))
      shown.step(step)
      M.draw(step ~= 0)
    end
  end)
end

--- The cursor has moved in insert mode, mostly as something was typed. What is typed as suggested needs no new answer.
---@param buffer integer
local function moved(buffer)
  pace.press(vim.uv.hrtime() / 1e6)
  stop_asking()
  local has_popup = vim.fn.pumvisible() == 1
  if shown.rest() and not has_popup then
    M.draw()
    return
  end
  shown.forget()
  M.hide()
  if has_popup or not client.is_on(buffer) then
    return
  end
  timer:start(pace.pause(), 0, vim.schedule_wrap(function()
    if vim.api.nvim_get_current_buf() == buffer and vim.fn.mode() == 'i' then
      ask(AUTOMATIC, 0)
    end
  end))
end

--- Begin to suggest in a buffer.
---@param buffer integer
function M.attach(buffer)
  local group = vim.api.nvim_create_augroup('fimlsp.extmark.' .. buffer, {})
  vim.api.nvim_create_autocmd({ 'InsertEnter', 'CursorMovedI', 'TextChangedP' }, {
    group = group,
    buffer = buffer,
    callback = function()
      moved(buffer)
    end,
  })
  vim.api.nvim_create_autocmd({ 'InsertLeave', 'BufLeave' }, {
    group = group,
    buffer = buffer,
    callback = function()
      stop_asking()
      shown.forget()
      M.hide()
      status.ended()
    end,
  })
end

--- Suggest in a buffer, the current one, no more.
---@param buffer integer
function M.detach(buffer)
  vim.api.nvim_create_augroup('fimlsp.extmark.' .. buffer, {})
  stop_asking()
  shown.forget()
  M.hide()
end

--- Show the candidate *count* further on; more are asked for when there is but one.
---@param count integer
function M.select(count)
  local _, candidates = shown.place()
  if candidates > 1 then
    shown.step(count)
    M.draw(true)
  else
    ask(BY_HAND, count)
  end
end

--- Ask now.
function M.trigger()
  ask(BY_HAND, 0)
end

return M
