import { fireEvent, render, screen } from "@testing-library/react";
import { describe, expect, it, vi } from "vitest";

import { TaskRow } from "./TaskRow";

const task = { id: 1, title: "Write a test", done: false };

describe("TaskRow", () => {
  it("toggles its task", () => {
    const onToggle = vi.fn();
    render(<TaskRow task={task} onToggle={onToggle} />);
    fireEvent.click(screen.getByRole("checkbox"));
    expect(onToggle).toHaveBeenCalledWith(1);
  });
});
