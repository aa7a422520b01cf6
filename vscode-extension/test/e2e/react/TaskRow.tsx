import { useCallback, useState } from "react";

import { row } from "./styles";
import type { TaskRowProps } from "./types";

export function TaskRow({ task, onToggle, onRemove }: TaskRowProps) {
  const [isEdited, setEdited] = useState(false);
  const toggle = useCallback(() => onToggle(task.id), [onToggle, task.id]);

  return (
    <li className={row(task.done)}>
      <input type="checkbox" checked={task.done} onChange={toggle} />
      {isEdited ? (
        <input defaultValue={task.title} onBlur={() => setEdited(false)} />
      ) : (
        <span onDoubleClick={() => setEdited(true)}>{task.title}</span>
      )}
      {onRemove && (
        <button type="button" onClick={() => onRemove(task.id)}>
          Remove
        </button>
      )}
    </li>
  );
}
