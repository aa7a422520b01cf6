--- The status of the server, for statuslines.

local M = {}

---@class fimlsp.Status The notification `fimlsp/status`; `stopped` and `missing` are the plugin's own.
---@field state 'loading'|'idle'|'thinking'|'suggestion'|'none'|'stopped'|'missing'
---@field reason? string
---@field percent? integer
---@field model? string
---@field uri? string
---@field automatic? boolean
---@field problem? string The problem with the configured model, while another one is used.
---@field missing? string The extra that the configured model needs, if it is not installed.
---@field files? string A sentence about the files of the workspace that were left out of it, if any were.
---@field learnt? string The number of places from which the estimate of the model has learnt.
---@field names? string The reason that the last completion was made without the names in scope, if so.

local SIGNS = { loading = '…', idle = '✓', thinking = '…', suggestion = '✦', none = '⊘', stopped = '✗', missing = '✗' }
local MEANINGS = {
  loading = 'loading',
  idle = 'ready',
  thinking = 'making a suggestion',
  suggestion = 'suggestion shown',
  none = 'no suggestion',
  stopped = 'the server is not running',
  missing = 'no server',
}

---@type fimlsp.Status
M.latest = { state = 'stopped' }

---@type integer? How much of the text a model has read that reads for long, in percent.
M.percent = nil

--- Notify statuslines by the event `User FimlspStatus`.
local function changed()
  vim.api.nvim_exec_autocmds('User', { pattern = 'FimlspStatus', modeline = false })
  vim.cmd.redrawstatus()
end

--- Follow the progress of the server.
function M.watch()
  vim.api.nvim_create_autocmd('LspProgress', {
    group = vim.api.nvim_create_augroup('fimlsp.progress', {}),
    callback = function(event)
      local sender = vim.lsp.get_client_by_id(event.data.client_id)
      if sender and sender.name == 'fimlsp' then
        local value = event.data.params.value
        M.percent = value.kind ~= 'end' and value.percentage or nil
        changed()
      end
    end,
  })
end

--- Set the status.
---@param status fimlsp.Status
function M.set(status)
  for name, value in pairs(status) do
    if value == vim.NIL then
      status[name] = nil
    end
  end
  M.latest = status
  changed()
end

--- The status for the current buffer: the outcome of a request in another buffer is left out.
---@return fimlsp.Status
function M.here()
  local status = M.latest
  if vim.b.fimlsp_off then
    return { state = 'none', reason = 'off in this buffer' }
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

--- A few characters for a statusline: a sign, and the progress of loading or reading, or the reason for no suggestion.
---@return string
function M.text()
  local status = M.here()
  local text = 'fimlsp ' .. (SIGNS[status.state] or status.state) .. (status.problem and ' !' or '')
  if status.state == 'loading' and status.percent then
    return ('%s %d%%'):format(text, status.percent)
  end
  if status.state ~= 'loading' and M.percent then
    return ('%s reading %d%%'):format(text, M.percent)
  end
  if status.state == 'none' and status.reason then
    return ('%s %s'):format(text, vim.fn.strcharpart(status.reason, 0, 40))
  end
  return status.automatic == false and text .. ' invoked only' or text
end

--- The status in one sentence.
---@return string
function M.sentence()
  local status = M.here()
  local meaning = MEANINGS[status.state] or status.state
  local said = status.reason and ('%s: %s'):format(meaning, status.reason) or meaning
  local is_news = status.problem and status.problem ~= status.reason
  said = is_news and ('%s. %s'):format(said, status.problem) or said
  said = status.files and ('%s. %s'):format(said, status.files) or said
  return status.names and ('%s. Names in scope are unknown: %s'):format(said, status.names) or said
end

return M
