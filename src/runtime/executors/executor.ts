/** The interface of executors, which run containers: an OCI runtime, or programs of the system. */
import type { OciProcess, OciResources, OciSpec } from '../spec/oci-spec.ts'

/** A program and its arguments. */
export type CommandLine = readonly [program: string, ...args: string[]]

/** The files of a command that is run in a container. */
export interface ExecFiles {
  /** Gets the number of the process when the command has started. */
  readonly pid: string
  /** Gets errors of the executor. */
  readonly log: string
  /** Gets the process in the form of the OCI specification. */
  readonly process: string
  /** A socket that gets the master of the terminal, if the executor sends terminals. */
  readonly console: string
}

/**
 * How a process gets its terminal:
 * - `sent`: the executor makes it, and sends its master to a socket;
 * - `copied`: the executor makes it, and copies between it and the terminal that is its own streams;
 * - `own`: the executor's streams, which are a terminal, are those of the process.
 */
export type Terminals = 'sent' | 'copied' | 'own'

/** Folders that a dump of a container's processes is written into. */
export interface CheckpointFolders {
  /** For the images of criu. */
  readonly images: string
  /** For its log. */
  readonly work: string
}

export interface Checkpointing {
  /** Stops all processes of a container until `resume`. Rejects with an Error. */
  pause(id: string): Promise<void>
  resume(id: string): Promise<void>
  /** Writes the memory of a container's processes. Rejects with an Error, also after the time. */
  dump(id: string, folders: CheckpointFolders, timeoutMs: number): Promise<void>
}

export interface Executor {
  /** The name of its runtime handler, such as `crun`. */
  readonly name: string
  readonly version: string
  readonly supportsRecursiveReadOnly: boolean
  /** True if it joins user namespaces, and mounts volumes with their users. */
  readonly supportsUserNamespaces: boolean
  /** True if it runs the hooks of a configuration. */
  readonly supportsHooks: boolean
  readonly terminals: Terminals
  /** Undefined if it cannot checkpoint containers. */
  readonly checkpoints: Checkpointing | undefined
  /** Writes the configuration of a container into its folder. */
  prepare(folder: string, spec: OciSpec): void
  /** The prepared configuration. */
  specOf(folder: string): OciSpec
  /**
   * The command that runs a container until its end, with its own streams, and returns its exit code. When the
   * container has started, the file `pid` in the folder has the number of its first process. `console` is the socket
   * that gets its terminal, if it has one and the executor sends terminals.
   */
  runCommand(id: string, folder: string, console?: string): CommandLine
  /** The command that runs a process in a running container, with its own streams, and returns its exit code. */
  execCommand(id: string, process: OciProcess, files: ExecFiles): CommandLine
  /** The error in a log that `runCommand` (file `log` of the folder) or `execCommand` has written. */
  errorIn(log: string): string | undefined
  /** Changes the limits of a running container. */
  update(id: string, folder: string, resources: OciResources): Promise<void>
  /** Removes what a container has left after a crash. Does nothing if there is nothing. */
  remove(id: string): Promise<void>
}
