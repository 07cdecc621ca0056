/** Names of files that change with their content. */
import { createHash } from 'node:crypto'
import { type Chunk, closure, isHashed, withoutHash } from './chunk-graph.ts'

/** Names of other files in a file's imports. */
const reference = /(?<=")\.\/([\w.-]+\.js)(?=")/g

/**
 * Renames files so that the name changes with the content of the file and of those it loads. Entries keep their names.
 */
export function namedByContent(
  texts: ReadonlyMap<string, string>,
  graph: ReadonlyMap<string, Chunk>,
): Map<string, string> {
  const referred = new Map(
    [...texts].map(([file, text]) => [
      file,
      [...text.matchAll(reference)].map(([, name = '']) => name).filter((name) => texts.has(name)),
    ]),
  )
  const nameOf = (file: string): string => {
    if (graph.has(file) && !isHashed(file)) return file
    const hash = createHash('sha256').update(file)
    for (const reached of [...closure([file], (other) => referred.get(other) ?? [])].sort())
      hash.update(`${reached}\n${texts.get(reached)}\n`)
    return `${withoutHash(file)}-${hash.digest('hex').slice(0, 8).toUpperCase()}.js`
  }
  const names = new Map([...texts.keys()].map((file) => [file, nameOf(file)]))
  return new Map(
    [...texts].map(([file, text]) => [
      names.get(file)!,
      text.replace(reference, (whole, name: string) => (names.has(name) ? `./${names.get(name)}` : whole)),
    ]),
  )
}
