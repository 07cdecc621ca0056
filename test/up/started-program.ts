/** A program of the package that runs until the end of a test. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { waitFor } from '../support/wait-for.ts'
import { repository } from './t8s-process.ts'

export interface StartedProgram {
  readonly output: () => string
  stop(): Promise<void>
}

/** Starts `t8s` with these arguments, and waits for a text in its output. */
export async function startProgram(
  t: TestContext,
  args: readonly string[],
  readyText: string,
): Promise<StartedProgram> {
  const child = spawn(join(repository, 't8s'), args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece: Buffer) => (output += piece.toString()))
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM')
    await ended
  }
  t.after(stop)
  await waitFor(`the program says “${readyText}”`, () => {
    assert.equal(child.exitCode, null, output)
    return output.includes(readyText)
  })
  return { output: () => output, stop }
}
