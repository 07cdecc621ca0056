/**
 * The process of a machine: the first one of its process namespace, so that nothing of the machine outlives it. It ends
 * when the cluster asks for it, or has ended itself.
 */
import { messageOf } from '../../../lib/message-of.ts'
import { releaseMemoryWhenIdle } from '../../../lib/process/memory/release-memory.ts'
import { surviveErrors } from '../../../lib/process/unhandled-errors.ts'
import { type RunningNode, startRealNode } from '../../real-node/thread/start.ts'
import type { MachineCommand, MachineReport } from './messages.ts'

let running: Promise<RunningNode> | undefined
let isStopping = false

function report(message: MachineReport): void {
  if (process.connected) process.send?.(message)
}

const log = (line: string): void => report({ log: line })

async function start({ task }: Extract<MachineCommand, { task: unknown }>): Promise<void> {
  try {
    running = startRealNode(task, log)
    await (await running).started
    report({ started: true })
  } catch (error) {
    report({ failed: messageOf(error) })
  }
}

async function stop(): Promise<void> {
  if (isStopping) return
  isStopping = true
  try {
    await (await running)?.stop()
  } catch (error) {
    log(`the machine did not end completely: ${messageOf(error)}`)
  }
  process.exit()
}

releaseMemoryWhenIdle()
surviveErrors(log)
process.on('message', (command: MachineCommand) => {
  if ('task' in command) void start(command)
  else void stop()
})
process.on('disconnect', () => void stop())
report({ ready: true })
