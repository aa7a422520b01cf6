-- The sandbox of scripts: their own environment, and limits for each call from the program.
local load, pcall, sethook, error, collectgarbage = load, pcall, debug.sethook, error, collectgarbage
local sub, byte, concat = string.sub, string.byte, table.concat

return function(rounds, instructions, text_bytes)
  local left = rounds
  local environment = {}

  -- lupa sometimes gives a script a wrong object while others are being collected.
  -- So garbage is only collected here, all at once.
  collectgarbage("stop")
  local enough = 0
  local function collect()
    if collectgarbage("count") > enough then
      collectgarbage("collect")
      enough = 2 * collectgarbage("count") + 1000
    end
  end

  function environment._round()
    collect()
    left = left - 1
    return left >= 0
  end

  -- Texts that are too long are cut after their last whole character.
  function environment._join(...)
    collect()
    local text = concat({...})
    if #text <= text_bytes then return text end
    local stop = text_bytes
    while stop > 0 and byte(text, stop + 1) >= 0x80 and byte(text, stop + 1) < 0xC0 do stop = stop - 1 end
    return sub(text, 1, stop)
  end

  local function load_script(text, name)
    local chunk, message = load(text, name, "t", environment)
    return chunk or message
  end

  local depth = 0
  local function leave(succeeded, result)
    depth = depth - 1
    if depth == 0 then sethook() end
    if not succeeded then error(result, 0) end
    return result
  end

  -- Calls that the program makes while it serves a script count towards the outermost one.
  local function call(f, ...)
    if depth == 0 then
      left = rounds
      sethook(function() error("script stopped: instruction limit exceeded", 2) end, "", instructions)
    end
    collect()
    depth = depth + 1
    return leave(pcall(f, ...))
  end

  return environment, load_script, call
end
