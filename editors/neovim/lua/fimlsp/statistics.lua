--- The server's statistics in words. They stay on this machine, and start with the server.

local M = {}

local function row(label, ...)
  return ('%-32s %s'):format(label, string.format(...))
end

local function time_of(kind, latency)
  local label = kind == 'model' and 'Latency with the model' or 'Latency without the model'
  if latency.count == 0 then
    return row(label, 'no answers yet')
  end
  return row(label, 'median %s ms, p95 %s ms, %d answers', latency.median, latency.p95, latency.count)
end

--- *statistics*, the result of `fimlsp.server.statistics`, line by line.
---@param statistics table
---@return string[]
function M.lines(statistics)
  local s = statistics
  local lines = {
    row('Suggestions', '%d for %d requests', s.shown, s.requests),
    row('Accepted', '%d whole, %d in part; %d characters', s.accepted, s.acceptedPartly, s.acceptedCharacters),
    row('Dismissed', '%d', s.dismissed),
    row('Answered without the model', '%d type-through, %d cached, %d prefetched', s.typedThrough, s.cached, s.prefetched),
    row('Tokens', '%d decoded, %d rejected because they cannot connect', s.tokens, s.rejectedTokens),
  }
  for kind, latency in vim.spairs(s.latencyMs) do
    table.insert(lines, time_of(kind, latency))
  end
  local reasons = vim.tbl_keys(s.noSuggestion)
  table.sort(reasons, function(a, b)
    return s.noSuggestion[a] > s.noSuggestion[b]
  end)
  for _, reason in ipairs(reasons) do
    table.insert(lines, row('No suggestion', '%d times: %s', s.noSuggestion[reason], reason))
  end
  return lines
end

return M
