/** Whoever sits at the terminal, as far as SSH has something to ask. */
export interface Asker {
  /** A text that is not shown while it is typed. Rejects when the question is broken off. */
  secret(question: string): Promise<string>
  /** Yes or no; `usual` is the answer of who just presses Return. Rejects when the question is broken off. */
  confirm(question: string, usual: boolean): Promise<boolean>
}
