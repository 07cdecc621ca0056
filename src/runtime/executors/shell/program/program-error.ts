/** The error that a program of system calls has written into its log. */
import { readFileSync } from 'node:fs'
import { getSystemErrorMessage } from 'node:util'

/** A message that ends with it is complete without the text of the error's number. */
export const complete = '\u0001'

/** Undefined without an error. Other texts of the log are those of the shell. */
export function errorInLog(file: string): string | undefined {
  const bytes = read(file)
  if (bytes.length === 0) return undefined
  const end = bytes.lastIndexOf(0)
  if (end === -1) return bytes.toString().trim()
  const message = bytes.toString('utf8', bytes.lastIndexOf('\n', end) + 1, end)
  if (message.endsWith(complete)) return message.slice(0, -complete.length)
  return `${message}: ${getSystemErrorMessage(-(bytes[end + 1] ?? 0))}`
}

function read(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch {
    return Buffer.alloc(0)
  }
}
