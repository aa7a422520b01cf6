import { useEffect, useReducer } from "react";

import { fetchTasks } from "./api";
import { Badge } from "./Badge";
import { initial, reduce } from "./reducer";
import { list } from "./styles";
import { TaskRow } from "./TaskRow";
import { ThemeProvider, useTheme } from "./Theme";

function Header({ count }: { count: number }) {
  const { mode, toggle } = useTheme();
  return (
    <header className={`header ${mode}`}>
      <h1>Tasks</h1>
      <Badge count={count} />
      <button type="button" onClick={toggle}>
        {mode === "light" ? "Dark" : "Light"}
      </button>
    </header>
  );
}

export default function App() {
  const [state, dispatch] = useReducer(reduce, initial);

  useEffect(() => {
    const controller = new AbortController();
    fetchTasks(controller.signal)
      .then((tasks) => dispatch({ type: "loaded", tasks }))
      .catch((error: Error) => dispatch({ type: "failed", message: error.message }));
    return () => controller.abort();
  }, []);

  const shown = state.tasks.filter((task) => state.filter === "all" || task.done === (state.filter === "done"));

  return (
    <ThemeProvider>
      <Header count={shown.length} />
      {state.error !== null && <p role="alert">{state.error}</p>}
      <ul className={list}>
        {shown.map((task) => (
          <TaskRow key={task.id} task={task} onToggle={(id) => dispatch({ type: "toggled", id })} />
        ))}
      </ul>
      {shown.length === 0 ? <p>Nothing to do.</p> : null}
    </ThemeProvider>
  );
}
