--- The program of the server: the user's, or that of the environment made by `:Fimlsp install`.

local config = require('fimlsp.config')

local M = {}

--- The clone of the project that contains this plugin; nil if there is none.
---@return string?
function M.clone()
  local here = vim.uv.fs_realpath(debug.getinfo(1, 'S').source:sub(2))
  local root = vim.fn.fnamemodify(here or '', ':p:h:h:h:h:h')
  return vim.uv.fs_stat(root .. '/pyproject.toml') and root or nil
end

--- The folder of environments.
---@return string
function M.folder()
  return vim.fn.stdpath('data') .. '/fimlsp'
end

---@class fimlsp.Environment The environment in use, as reported by editors/environment.
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

--- The server's command, without `--stdio`; nil if there is none.
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

--- The reason for no command, and the remedy.
---@return string
function M.missing()
  if config.current.cmd then
    return config.current.cmd[1] .. ' is not an executable program: set the server in setup({ cmd = … }), or omit cmd'
  end
  return 'no server was found: `:Fimlsp install` sets it up, or set one in setup({ cmd = … })'
end

--- The version of the clone; nil if it is unknown.
---@return string?
function M.version_of_clone()
  local root = M.clone()
  local file = root and io.open(root .. '/src/fimlsp/__init__.py')
  if not file then
    return nil
  end
  local version = file:read('*a'):match('__version__ = "([^"]+)"')
  file:close()
  return version
end

return M
