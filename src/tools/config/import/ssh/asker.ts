/** Prompts of SSH at the terminal. */
export interface Asker {
  /** Reads a text without showing it. Rejects if the user cancels. */
  secret(question: string): Promise<string>
  /** Asks yes or no; Return means `defaultAnswer`. Rejects if the user cancels. */
  confirm(question: string, defaultAnswer: boolean): Promise<boolean>
}
