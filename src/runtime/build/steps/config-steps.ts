/** Instructions that change the configuration of an image, and no files. */
import { posix } from 'node:path'
import { goDurationMs } from '../../../lib/go/go-duration.ts'
import { messageOf } from '../../../lib/message-of.ts'
import { buildError } from '../dockerfile/build-error.ts'
import { splitWords } from '../dockerfile/expand-words.ts'
import { assignments, expanded, expandedWords, flagOf, type Instruction, jsonWords } from '../dockerfile/instruction.ts'
import { declaredArgs } from '../dockerfile/parse-dockerfile.ts'
import type { StageScope } from './stage-scope.ts'

/** Values that `ARG` gets from outside of the stage. */
export interface ArgValues {
  readonly buildArgs: ReadonlyMap<string, string>
  readonly globals: ReadonlyMap<string, string>
  readonly platformArgs: ReadonlyMap<string, string>
}

type ConfigStep = (scope: StageScope, instruction: Instruction, values: ArgValues) => void

/** By keyword. They throw an ImageError for arguments that are not valid. */
export const configSteps: ReadonlyMap<string, ConfigStep> = new Map<string, ConfigStep>([
  ['ARG', setArgs],
  ['ENV', setEnvironment],
  ['LABEL', setLabels],
  ['EXPOSE', exposePorts],
  ['VOLUME', addVolumes],
  ['USER', (scope, step) => scope.configure({ User: expanded(step, step.rest, scope.variables) })],
  ['STOPSIGNAL', (scope, step) => scope.configure({ StopSignal: expanded(step, step.rest, scope.variables) })],
  ['SHELL', (scope, step) => scope.configure({ Shell: jsonWords(step.rest) })],
  ['MAINTAINER', (scope, step) => void (scope.image = { ...scope.image, author: step.rest })],
  ['CMD', setCommand],
  ['ENTRYPOINT', setEntrypoint],
  ['HEALTHCHECK', setHealthcheck],
])

/** Proxies are known without a declaration, and are no part of the image. */
function setArgs(scope: StageScope, step: Instruction, { buildArgs, globals, platformArgs }: ArgValues): void {
  for (const [name, value] of declaredArgs(step, scope.variables)) {
    const given = buildArgs.get(name) ?? value ?? globals.get(name) ?? platformArgs.get(name)
    if (given !== undefined) scope.args.set(name, given)
  }
}

function setEnvironment(scope: StageScope, step: Instruction): void {
  const environment = new Map(scope.environment)
  for (const [key, value] of assignments(step, scope.variables)) environment.set(key, value)
  scope.configure({ Env: [...environment].map(([key, value]) => `${key}=${value}`) })
}

function setLabels(scope: StageScope, step: Instruction): void {
  scope.configure({
    Labels: { ...objectOf(scope, 'Labels'), ...Object.fromEntries(assignments(step, scope.variables)) },
  })
}

function exposePorts(scope: StageScope, step: Instruction): void {
  const ports = splitWords(expanded(step, step.rest, scope.variables), step.escapeCharacter).flatMap((word) => {
    const [, first, last = first, protocol = 'tcp'] = /^(\d+)(?:-(\d+))?(?:\/(tcp|udp|sctp))?$/i.exec(word) ?? []
    const [low, high] = [Number(first), Number(last)]
    if (!(low >= 1 && high >= low && high <= 65_535)) throw buildError(step.place, `${word} is no port: write 80/tcp`)
    return Array.from({ length: high - low + 1 }, (_, i) => [`${low + i}/${protocol.toLowerCase()}`, {}])
  })
  scope.configure({ ExposedPorts: { ...objectOf(scope, 'ExposedPorts'), ...Object.fromEntries(ports) } })
}

function addVolumes(scope: StageScope, step: Instruction): void {
  const volumes = expandedWords(step, scope.variables).map((path) => [posix.resolve(scope.workingDir, path), {}])
  scope.configure({ Volumes: { ...objectOf(scope, 'Volumes'), ...Object.fromEntries(volumes) } })
}

function setCommand(scope: StageScope, { rest }: Instruction): void {
  scope.hasOwnCommand = true
  scope.configure({ Cmd: commandWords(scope, rest) })
}

function setEntrypoint(scope: StageScope, { rest }: Instruction): void {
  scope.configure({ Entrypoint: commandWords(scope, rest), ...(!scope.hasOwnCommand && { Cmd: [] }) })
}

/** A list is run as it is, another text by the shell. */
export const commandWords = (scope: StageScope, rest: string): readonly string[] =>
  jsonWords(rest) ?? [...scope.shell, rest]

function setHealthcheck(scope: StageScope, step: Instruction): void {
  const [, kind = '', command = ''] = /^(\S+)\s*([\s\S]*)$/.exec(step.rest) ?? []
  if (kind.toUpperCase() === 'NONE') {
    scope.configure({ Healthcheck: { Test: ['NONE'] } })
    return
  }
  if (kind.toUpperCase() !== 'CMD' || command === '') throw buildError(step.place, 'write HEALTHCHECK CMD COMMAND')
  const duration = (flag: string): number | undefined => {
    const text = flagOf(step, flag, scope.variables)
    try {
      return text === undefined ? undefined : goDurationMs(text) * 1e6
    } catch (error) {
      throw buildError(step.place, `--${flag}: ${messageOf(error)}`, error)
    }
  }
  const list = jsonWords(command)
  const retries = flagOf(step, 'retries', scope.variables)
  if (retries !== undefined && !/^\d{1,6}$/.test(retries)) throw buildError(step.place, '--retries must be a number')
  scope.configure({
    Healthcheck: {
      Test: list ? ['CMD', ...list] : ['CMD-SHELL', command],
      Interval: duration('interval'),
      Timeout: duration('timeout'),
      StartPeriod: duration('start-period'),
      StartInterval: duration('start-interval'),
      Retries: retries === undefined ? undefined : Number(retries),
    },
  })
}

function objectOf(scope: StageScope, field: string): object {
  const value = scope.image.config[field]
  return typeof value === 'object' && value !== null ? value : {}
}
