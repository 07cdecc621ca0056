/** `RUN`: runs a command in a container, whose changes become a layer. */
import { packFolder } from '../../images/index.ts'
import { type BuildTools, newRootId, rootOf } from '../build-tools.ts'
import type { CommandRunner, RunCommand } from '../container/command-runner.ts'
import { RunMountPoints } from '../container/run-mount-points.ts'
import { buildError, StepError } from '../dockerfile/build-error.ts'
import type { Instruction } from '../dockerfile/instruction.ts'
import { filesOf } from '../image-document.ts'
import { cacheKey } from '../layers/build-cache.ts'
import { commandWords } from './config-steps.ts'
import type { StageScope } from './stage-scope.ts'
import type { StepResult } from './step-result.ts'

/** Variables that commands get without `ARG`, and that do not change the result. */
const proxies = ['HTTP_PROXY', 'HTTPS_PROXY', 'FTP_PROXY', 'NO_PROXY', 'ALL_PROXY']

/** `started` is called before the command runs. */
export async function run(
  tools: BuildTools,
  scope: StageScope,
  instruction: Instruction,
  { runner, buildArgs, started }: RunOptions,
): Promise<StepResult> {
  const args = wordsOf(scope, instruction)
  const environment = new Map([...scope.args, ...scope.environment])
  const { workingDir, user } = scope
  const key = cacheKey('RUN', filesOf(scope.image), args, [...environment], workingDir, user, tools.options.latest)
  const found = await tools.cached(key)
  if (found) return { result: found, isCached: true }
  tools.checkRun()
  started()
  const proxyValues = [...buildArgs].filter(([name]) => proxies.includes(name.toUpperCase()))
  const command = { args, environment: new Map([...proxyValues, ...environment]), workingDir, user }
  return { result: await runInContainer(tools, scope, { key, command, runner }), isCached: false }
}

export interface RunOptions {
  readonly runner: CommandRunner
  readonly buildArgs: ReadonlyMap<string, string>
  readonly started: () => void
}

/** A here-document alone is a script of the shell; a command with some gets them as the shell reads them. */
function wordsOf(scope: StageScope, { rest, documents, place }: Instruction): readonly string[] {
  const [first] = documents
  if (!first) return commandWords(scope, rest)
  const isScript = documents.length === 1 && /^\d*<<-?["']?[\w.]+["']?$/.test(rest)
  if (!isScript) return [...scope.shell, [rest, ...documents.map(({ source }) => source)].join('\n')]
  if (first.content.startsWith('#!'))
    throw buildError(place, 'scripts with #! are not supported: COPY the script, and RUN it')
  return [...scope.shell, first.content]
}

interface ContainerRun {
  readonly key: string
  readonly command: RunCommand
  readonly runner: CommandRunner
}

async function runInContainer(tools: BuildTools, scope: StageScope, { key, command, runner }: ContainerRun) {
  const { snapshots, latest, signal } = tools.options
  const id = newRootId()
  try {
    await snapshots.prepare(id, rootOf(scope.image), { ...(signal && { signal }) })
    const root = await snapshots.mount(id)
    const mountPoints = new RunMountPoints(root)
    const code = await runner.run(root, command, signal)
    if (code !== 0) throw new StepError(`the command has ended with exit code ${code}`)
    mountPoints.removeNew()
    await snapshots.unmount(id)
    const changes = snapshots.changes(id)
    mountPoints.removeUnchangedFolders(changes)
    return await tools.makeLayer([key], (archive) => packFolder(changes, archive, { isOverlay: true, latest }))
  } finally {
    await snapshots.remove(id)
  }
}
