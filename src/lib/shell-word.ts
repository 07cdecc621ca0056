/** Quotes a word for a POSIX shell, if it has characters that a shell interprets. */
export const shellWord = (text: string): string =>
  /^[\w./@:=+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
