--- What the server is doing, for statuslines.

local M = {}

---@class fimlsp.Status The notification `fimlsp/status`; `stopped` and `missing` are the plugin's own.
---@field state 'loading'|'idle'|'thinking'|'suggestion'|'none'|'stopped'|'missing'
---@field reason? string
---@field percent? integer
---@field model? string
---@field uri? string
---@field automatic? boolean
---@field problem? string Why another model is used than the user wants, as long as that is so.
---@field missing? string The extra that the wanted model needs, if it is not installed.
---@field names? string Why the last completion was made without knowing which names there are, if so.

local SIGNS = { loading = '…', idle = '✓', thinking = '…', suggestion = '✦', none = '⊘', stopped = '✗', missing = '✗' }
local MEANINGS = {
  loading = 'getting ready',
  idle = 'ready',
  thinking = 'making a suggestion',
  suggestion = 'suggestion given',
  none = 'no suggestion',
  stopped = 'the server does not run',
  missing = 'no server',
}

---@type fimlsp.Status
M.latest = { state = 'stopped' }

--- Take a status over and let statuslines know: the event `User FimlspStatus`.
---@param status fimlsp.Status
function M.set(status)
  for name, value in pairs(status) do
    if value == vim.NIL then
      status[name] = nil
    end
  end
  M.latest = status
  vim.api.nvim_exec_autocmds('User', { pattern = 'FimlspStatus', modeline = false })
  vim.cmd.redrawstatus()
end

--- The status as it concerns the current buffer: the outcome of a request in another one is no news here.
---@return fimlsp.Status
function M.here()
  local status = M.latest
  if vim.b.fimlsp_off then
    return { state = 'none', reason = 'switched off in this buffer' }
  end
  local is_outcome = status.state == 'none' or status.state == 'suggestion' or status.state == 'thinking'
  if is_outcome and status.uri and status.uri ~= vim.uri_from_bufnr(0) then
    return { state = 'idle', model = status.model, automatic = status.automatic, problem = status.problem }
  end
  return status
end

--- No suggestion is on the screen any more.
function M.ended()
  if M.latest.state == 'suggestion' then
    M.set(vim.tbl_extend('force', M.latest, { state = 'idle', reason = vim.NIL }))
  end
end

--- A few characters for a statusline: a sign, how far loading has come, why there is no suggestion.
---@return string
function M.text()
  local status = M.here()
  local text = 'fimlsp ' .. (SIGNS[status.state] or status.state) .. (status.problem and ' !' or '')
  if status.state == 'loading' and status.percent then
    return ('%s %d%%'):format(text, status.percent)
  end
  if status.state == 'none' and status.reason then
    return ('%s %s'):format(text, vim.fn.strcharpart(status.reason, 0, 40))
  end
  return status.automatic == false and text .. ' by hand' or text
end

--- One sentence.
---@return string
function M.sentence()
  local status = M.here()
  local meaning = MEANINGS[status.state] or status.state
  local said = status.reason and ('%s: %s'):format(meaning, status.reason) or meaning
  local is_news = status.problem and status.problem ~= status.reason
  said = is_news and ('%s. %s'):format(said, status.problem) or said
  return status.names and ('%s. Names were not looked up: %s'):format(said, status.names) or said
end

return M
