/** The first calls of each program, before it enters the container. */
import { errorFile, type ProgramWriter } from '../program/program-writer.ts'
import { currentFolder, namespaceFlags, openFlags, signals } from './kernel-constants.ts'

const setDumpable = 4
const firstOther = 6
const allFiles = 0xffff_ffff

/** Programs of containers start with the default reactions to signals. A shell may have changed them. */
export function resetSignals(writer: ProgramWriter): void {
  const action = writer.data(Buffer.alloc(32))
  const none = writer.data(Buffer.alloc(8))
  for (let signal = 1; signal <= signals.last; signal++) {
    const isFixed = signal === signals.kill || signal === signals.stop
    if (!isFixed) writer.call('rt_sigaction', [signal, action, 0, 8])
  }
  writer.call('rt_sigprocmask', [2, none, 0, 8])
}

/** Closes files that the program does not know, restores the container's errors, and hides from other processes. */
export function secureStart(writer: ProgramWriter): void {
  writer.call('close_range', [firstOther, allFiles, 0])
  writer.call('dup3', [errorFile, 2, 0])
  writer.call('close', [errorFile])
  writer.call('prctl', [setDumpable, 0])
}

/**
 * Goes on in a new process, which the next PID namespace applies to. The first one waits for it and ends with its exit
 * code.
 */
export function continueInChild(writer: ProgramWriter): () => void {
  writer.call('clone', [signals.child, 0, 0, 0, 0], { onPositive: 'parent', message: 'cannot start a process' })
  return () => {
    writer.label('parent')
    writer.call('close_range', [3, allFiles, 0])
    const status = writer.data(Buffer.alloc(8))
    writer.label('wait')
    writer.call('wait4', [-1, status, 0, 0], { onError: 'wait' })
    writer.finish(status)
  }
}

/** Reads the number of this process, as the runtime sees it. Returns the address of its text of a fixed length. */
export function readOwnPid(writer: ProgramWriter): number {
  const text = writer.data(Buffer.alloc(pidBytes, '\n'))
  writer.call('readlinkat', [currentFolder, '/proc/self', text, pidBytes])
  return text
}

export const pidBytes = 12

export function writeFile(writer: ProgramWriter, path: string, text: string, message: string): void {
  const file = writer.open('openat', [currentFolder, path, openFlags.write], { message })
  writer.call('write', [file, text, Buffer.byteLength(text)], { message })
  writer.close(file)
}

/** Moves this process into cgroups, by their folders. */
export function joinCgroups(writer: ProgramWriter, folders: readonly string[]): void {
  for (const folder of folders) writeFile(writer, `${folder}/cgroup.procs`, '0', `cannot join cgroup ${folder}`)
}

export function setOomScore(writer: ProgramWriter, score: number | undefined): void {
  if (score === undefined) return
  const text = String(score)
  writeFile(writer, '/proc/self/oom_score_adj', text, `cannot set oom_score_adj to ${text}`)
}

export function enterNamespace(writer: ProgramWriter, type: keyof typeof namespaceFlags, file: number): void {
  writer.call('setns', [file, namespaceFlags[type]], { message: `cannot enter the ${type} namespace` })
  writer.close(file)
}

export const openNamespace = (writer: ProgramWriter, path: string): number =>
  writer.open('openat', [currentFolder, path, 0], { message: `cannot open namespace ${path}` })
