/** The child process of `askedProcess`: answers each message of the test that started it. */
import { once } from 'node:events'
import type { Server } from 'node:net'

/**
 * Answers messages, which have one member each, with the result of the function of the same name. The process ends with
 * the test's process.
 */
export function answerMessages<Messages extends object>(
  answers: { readonly [Name in keyof Messages]: (value: Messages[Name]) => object | Promise<object> },
) {
  process.on('message', async (message: Messages) => {
    for (const name in message) process.send?.(await answers[name](message[name]))
  })
  process.on('disconnect', () => process.exit())
}

/** The port that a server listens on. */
export async function listening(server: Server, port = 0, host = '127.0.0.1'): Promise<number> {
  server.listen(port, host)
  await once(server, 'listening')
  const address = server.address()
  return typeof address === 'object' && address ? address.port : port
}
