--- Which program is the server: the user's, or that of the environment which `:Fimlsp install` made.

local config = require('fimlsp.config')

local M = {}

--- The clone of the project that this plugin lies in; nil when it lies elsewhere.
---@return string?
function M.clone()
  local here = vim.uv.fs_realpath(debug.getinfo(1, 'S').source:sub(2))
  local root = vim.fn.fnamemodify(here or '', ':p:h:h:h:h:h')
  return vim.uv.fs_stat(root .. '/pyproject.toml') and root or nil
end

--- Where environments are made.
---@return string
function M.folder()
  return vim.fn.stdpath('data') .. '/fimlsp'
end

---@class fimlsp.Environment What editors/environment says of the one in use.
---@field python string
---@field version string
---@field extras string[]

--- The environment in use, if one was made.
---@return fimlsp.Environment?
function M.environment()
  local file = io.open(M.folder() .. '/current.json')
  if not file then
    return nil
  end
  local ok, told = pcall(vim.json.decode, file:read('*a'))
  file:close()
  return ok and vim.fn.executable(told.python) == 1 and told or nil
end

--- The server's command, without `--stdio`; nil when there is none.
---@return string[]?
function M.command()
  local own = config.current.cmd
  if own then
    return vim.fn.executable(own[1]) == 1 and own or nil
  end
  local active = vim.env.VIRTUAL_ENV and vim.fs.joinpath(vim.env.VIRTUAL_ENV, 'bin', 'fimlsp')
  for _, program in ipairs({ active or 'fimlsp', 'fimlsp' }) do
    if vim.fn.executable(program) == 1 then
      return { program }
    end
  end
  local environment = M.environment()
  return environment and { environment.python, '-I', '-m', 'fimlsp' } or nil
end

--- Why there is no command, and what to do.
---@return string
function M.missing()
  if config.current.cmd then
    return config.current.cmd[1] .. ' is no program here: name the server in setup({ cmd = … }), or leave cmd out'
  end
  return 'no server was found: `:Fimlsp install` sets it up, or name one in setup({ cmd = … })'
end

--- The version of the clone; nil when it cannot be told.
---@return string?
function M.version_of_clone()
  local root = M.clone()
  local file = root and io.open(root .. '/fimlsp/__init__.py')
  if not file then
    return nil
  end
  local version = file:read('*a'):match('__version__ = "([^"]+)"')
  file:close()
  return version
end

return M
