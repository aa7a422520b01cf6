import type { Task } from "./types";

const BASE = "/api/tasks";

export async function fetchTasks(signal?: AbortSignal): Promise<Task[]> {
  const response = await fetch(`${BASE}?order=due`, { signal });
  if (!response.ok) {
    throw new Error(`Cannot load tasks: ${response.status} ${response.statusText}`);
  }
  return (await response.json()) as Task[];
}

export async function saveTask(task: Task): Promise<void> {
  await fetch(`${BASE}/${task.id}`, {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(task),
  });
}
