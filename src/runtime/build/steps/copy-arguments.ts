/** The arguments of `COPY` and `ADD`. */
import { posix } from 'node:path'
import { readRootFile } from '../../spec/root-files.ts'
import { buildError, StepError } from '../dockerfile/build-error.ts'
import { expandText, splitWords } from '../dockerfile/expand-words.ts'
import { expanded, flagOf, type Instruction, jsonWords } from '../dockerfile/instruction.ts'
import type { Owner } from '../layers/target-tree.ts'
import type { StageScope } from './stage-scope.ts'

/** A file whose content is in the Dockerfile. */
export interface InlineFile {
  readonly name: string
  readonly content: string
}

export interface CopyArguments {
  readonly sources: readonly string[]
  readonly inline: readonly InlineFile[]
  /** A complete path in the image; it ends with a slash if it must be a folder. */
  readonly destination: string
  readonly chown: string | undefined
  readonly mode: number | undefined
}

/** Throws an ImageError for arguments that are not valid. */
export function copyArguments(scope: StageScope, instruction: Instruction): CopyArguments {
  const { rest, escapeCharacter, place, keyword, documents } = instruction
  const names = new Set(documents.map(({ name }) => name))
  const words = (jsonWords(rest) ?? splitWords(rest, escapeCharacter)).filter(
    (word) => !names.has(/^\d*<<-?["']?([^"']*)["']?$/.exec(word)?.[1] ?? ''),
  )
  const paths = words.map((word) => expanded(instruction, word, scope.variables))
  const last = paths.pop()
  if (last === undefined || paths.length + documents.length === 0)
    throw buildError(place, `${keyword} needs a source and a destination: ${keyword} SOURCE /FOLDER/`)
  const folder = posix.resolve(scope.workingDir, last)
  const isFolder = /(?:^|\/)\.{0,2}$/.test(last)
  const destination = isFolder && folder !== '/' ? `${folder}/` : folder
  if (paths.length + documents.length > 1 && !destination.endsWith('/'))
    throw buildError(place, `${keyword} of several files needs a folder: end ${last} with a slash`)
  const chmod = flagOf(instruction, 'chmod', scope.variables)
  if (chmod !== undefined && !/^[0-7]{3,4}$/.test(chmod))
    throw buildError(place, `--chmod must be an octal number such as 755, not ${chmod}`)
  return {
    sources: paths,
    inline: documents.map(({ name, content, isExpanded }) => ({
      name,
      content: isExpanded ? expandText(content, scope.variables, escapeCharacter) : content,
    })),
    destination,
    chown: flagOf(instruction, 'chown', scope.variables) || undefined,
    mode: chmod === undefined ? undefined : Number.parseInt(chmod, 8),
  }
}

/** Looks up names in the files of the image. A user alone means the group of the same number. Throws a StepError. */
export function ownerOf(chown: string, root: string): Owner {
  const [user = '', group = ''] = chown.split(':')
  const uid = idOf(user, readRootFile(root, 'etc/passwd'), 'user')
  return { uid, gid: group === '' ? uid : idOf(group, readRootFile(root, 'etc/group'), 'group') }
}

function idOf(text: string, file: string, kind: string): number {
  if (/^\d+$/.test(text)) return Number(text)
  const entry = file
    .split('\n')
    .map((line) => line.split(':'))
    .find(([name]) => name === text)
  if (!entry) throw new StepError(`--chown: the image has no ${kind} ${JSON.stringify(text)}: use a number`)
  return Number(entry[2])
}
