export type Filter = "all" | "open" | "done";

export interface Task {
  id: number;
  title: string;
  done: boolean;
  due?: Date;
}

export interface TaskRowProps {
  task: Task;
  onToggle: (id: number) => void;
  onRemove?: (id: number) => void;
}
