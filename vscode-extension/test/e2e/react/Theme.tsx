import { createContext, useContext, useMemo, useState, type ReactNode } from "react";

type Mode = "light" | "dark";

interface Theme {
  mode: Mode;
  toggle: () => void;
}

const ThemeContext = createContext<Theme | undefined>(undefined);

export function ThemeProvider({ children }: { children: ReactNode }) {
  const [mode, setMode] = useState<Mode>("light");
  const theme = useMemo(
    () => ({ mode, toggle: () => setMode((old) => (old === "light" ? "dark" : "light")) }),
    [mode],
  );
  return <ThemeContext.Provider value={theme}>{children}</ThemeContext.Provider>;
}

export function useTheme(): Theme {
  const theme = useContext(ThemeContext);
  if (theme === undefined) {
    throw new Error("Cannot find a theme. Do render a ThemeProvider.");
  }
  return theme;
}
