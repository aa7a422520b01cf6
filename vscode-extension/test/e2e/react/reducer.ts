import type { Filter, Task } from "./types";

export interface State {
  tasks: Task[];
  filter: Filter;
  error: string | null;
}

export type Action =
  | { type: "loaded"; tasks: Task[] }
  | { type: "toggled"; id: number }
  | { type: "removed"; id: number }
  | { type: "failed"; message: string };

export const initial: State = { tasks: [], filter: "all", error: null };

export function reduce(state: State, action: Action): State {
  switch (action.type) {
    case "loaded":
      return { ...state, tasks: action.tasks, error: null };
    case "toggled":
      return {
        ...state,
        tasks: state.tasks.map((task) => (task.id === action.id ? { ...task, done: !task.done } : task)),
      };
    case "removed":
      return { ...state, tasks: state.tasks.filter((task) => task.id !== action.id) };
    case "failed":
      return { ...state, error: action.message };
    default:
      return state;
  }
}
