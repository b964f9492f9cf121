/** English messages begin with the path, which is shown beside them, or by their place. */
export const withoutPath = ({ path, message }: { path: string; message: string }): string =>
  message.startsWith(`${path} `) || message.startsWith(`${path}: `)
    ? message.slice(path.length + 1).trimStart()
    : message
