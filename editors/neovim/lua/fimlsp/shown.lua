--- The suggestion on the screen, and what there is to choose from. There is one cursor, hence one.

local suggestion = require('fimlsp.suggestion')

local M = {}

---@type { buffer: integer, candidates: fimlsp.Suggestion[], index: integer }?
local shown

--- *candidates* were given for a buffer; the first is shown, or that with *index*.
---@param buffer integer
---@param candidates fimlsp.Suggestion[]
---@param index? integer
function M.set(buffer, candidates, index)
  shown = #candidates > 0 and { buffer = buffer, candidates = candidates, index = index or 1 } or nil
end

--- Nothing is shown any more.
function M.forget()
  shown = nil
end

--- The one that is shown in the current buffer.
---@return fimlsp.Suggestion?
function M.candidate()
  local is_here = shown ~= nil and shown.buffer == vim.api.nvim_get_current_buf()
  return is_here and shown.candidates[shown.index] or nil
end

--- What is left of it at the cursor; nil when there is none, or when the text has gone another way.
---@return string?
function M.rest()
  local candidate = M.candidate()
  return candidate and suggestion.rest(candidate) or nil
end

--- Which one it is, and of how many.
---@return integer index, integer count
function M.place()
  if not shown then
    return 0, 0
  end
  return shown.index, #shown.candidates
end

--- Go *count* candidates further, round and round.
---@param count integer
function M.step(count)
  if shown then
    shown.index = (shown.index - 1 + count) % #shown.candidates + 1
  end
end

return M
