--- `:Fimlsp install`: makes a Python environment with the server in it, by the program in editors/environment.

local config = require('fimlsp.config')
local server = require('fimlsp.server')
local status = require('fimlsp.status')

local M = {}

local PYTHONS = { 'python3', 'python', 'python3.15', 'python3.14', 'python3.13', 'python3.12', 'python3.11', 'python3.10', '/usr/bin/python3' }

---@type boolean Whether an environment is being made.
M.is_running = false

local function tell(news, level)
  vim.notify('fimlsp: ' .. news, level)
end

--- The program's arguments.
---@param root string
---@param extras string[]
---@return string[]
local function arguments(root, extras)
  local result = { root .. '/editors/environment', '--folder', server.folder() }
  vim.list_extend(result, { '--source', root, '--constraints', root .. '/constraints.txt' })
  for _, extra in ipairs(extras) do
    vim.list_extend(result, { '--extra', extra })
  end
  if config.current.wheelhouse then
    vim.list_extend(result, { '--wheelhouse', vim.fn.expand(config.current.wheelhouse) })
  end
  return result
end

--- Run *program*; *done* gets what it told last, or what is wrong with it.
---@param program string
---@param given string[]
---@param done fun(told: { python?: string, error?: string, unsuitable?: string })
local function run(program, given, done)
  if vim.fn.executable(program) == 0 then
    done({ unsuitable = 'it is not there' })
    return
  end
  local last, rest = {}, ''
  local function take(_, chunk)
    local lines = vim.split(rest .. (chunk or ''), '\n')
    rest = table.remove(lines)
    for _, line in ipairs(lines) do
      local ok, told = pcall(vim.json.decode, line)
      if ok and told.log then
        vim.schedule(function()
          require('fimlsp.client').take_log(told.log)
        end)
      elseif ok and told.step then
        vim.schedule(function()
          status.set({ state = 'loading', reason = 'setting up the server, ' .. told.step })
          vim.api.nvim_echo({ { 'fimlsp: ' .. vim.fn.strcharpart(told.step, 0, vim.o.columns - 20) } }, false, {})
        end)
      elseif ok then
        last = told
      end
    end
  end
  vim.system(vim.list_extend({ program }, given), { stdout = take, text = true }, function(result)
    vim.schedule(function()
      if next(last) == nil then
        local lines = vim.split(vim.trim(result.stderr or ''), '\n')
        local why = lines[#lines] ~= '' and lines[#lines] or ('exit status %d'):format(result.code)
        last = { unsuitable = ('it cannot be run (%s)'):format(why) }
      end
      done(last)
    end)
  end)
end

local function fail(reason)
  M.is_running = false
  status.set({ state = 'stopped', reason = reason })
  tell('the server is not installed: ' .. reason, vim.log.levels.ERROR)
end

--- Try *programs* from *index* on.
---@param index integer
---@param given string[]
---@param unsuitable string[]
---@param done fun()
local function attempt(index, given, unsuitable, done)
  local program = PYTHONS[index]
  if not program then
    local found = #unsuitable > 0 and (' (%s)'):format(table.concat(unsuitable, '; ')) or ''
    fail(('no suitable Python was found%s: install Python 3.10 or newer, and try again'):format(found))
    return
  end
  run(program, given, function(told)
    if told.python then
      M.is_running = false
      done()
    elseif told.error then
      fail(told.error)
    else
      if told.unsuitable ~= 'it is not there' then
        table.insert(unsuitable, ('%s: %s'):format(program, told.unsuitable))
      end
      attempt(index + 1, given, unsuitable, done)
    end
  end)
end

--- Make the environment, with *extra* beside what is there; *done* is called when the server is in it.
---@param extra? string
---@param done fun()
function M.run(extra, done)
  local root = server.clone()
  if M.is_running then
    tell('the server is being installed already')
  elseif not root then
    fail('this plugin is not in a clone of fimlsp; install the server yourself, and set it in setup({ cmd = … })')
  else
    M.is_running = true
    local environment = server.environment()
    local extras = environment and vim.deepcopy(environment.extras) or {}
    if extra and not vim.tbl_contains(extras, extra) then
      table.insert(extras, extra)
    end
    status.set({ state = 'loading', reason = 'setting up the server' })
    attempt(1, arguments(root, extras), {}, done)
  end
end

return M
