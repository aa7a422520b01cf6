import { css } from "./css";

const space = 8;

export const row = (done: boolean) => css`
  display: flex;
  gap: ${space}px;
  padding: ${space / 2}px ${space}px;
  color: ${done ? "gray" : "black"};

  &:hover {
    background: #eee;
  }
`;

export const list = css`
  list-style: none;
  margin: 0 ${2 * space}px;
`;
