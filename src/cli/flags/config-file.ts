/** `--config FILE`: the flags of a command in a YAML file. Each flag is a field in camel case: `securePort: 6444`. */
import { readFileSync } from 'node:fs'
import { type Command, InvalidArgumentError, type Option } from 'commander'
import { isMap, isScalar, isSeq, LineCounter, type Pair, parseDocument } from 'yaml'
import { ExplainedError, reasonOf } from '../../lib/explained-error.ts'

export const configApiVersion = 't8s.dev/v1alpha1'
export const configKind = 'ClusterConfiguration'

/** They choose the process that runs, which would read the file once more. */
const onlyOnCommandLine: ReadonlySet<string> = new Set(['config', 'detach', 'help', 'version'])

/**
 * Sets the options of a command that the command line has not set. Throws an ExplainedError that names the file and the
 * line of a field that is unknown, or whose value its flag does not take.
 */
export function readConfigFile(command: Command, file: string): void {
  const lines = new LineCounter()
  const document = parseDocument(textOf(file), { lineCounter: lines, uniqueKeys: true })
  const [error] = document.errors
  if (error) throw new ExplainedError(`${file} is not valid YAML: ${error.message}`)
  if (!isMap(document.contents)) throw new ExplainedError(`${file} has no fields: it begins with ${firstLines}`)
  const { apiVersion, kind } = document.toJS() as { readonly apiVersion?: unknown; readonly kind?: unknown }
  if (apiVersion !== configApiVersion || kind !== configKind)
    throw new ExplainedError(`${file} is no configuration of a cluster: it begins with ${firstLines}`)
  for (const pair of document.contents.items) {
    const { name, offset, values } = fieldOf(pair)
    if (name === 'apiVersion' || name === 'kind') continue
    const place = `${file}, line ${lines.linePos(offset).line}`
    const option = optionOf(command, name, place)
    if (command.getOptionValueSource(name) !== 'cli') setOption(command, option, values, place)
  }
}

const firstLines = `"apiVersion: ${configApiVersion}" and "kind: ${configKind}"`

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new ExplainedError(`cannot read ${file}: ${reasonOf(error)}`, { cause: error })
  }
}

interface Field {
  readonly name: string
  readonly offset: number
  /** A list has several; undefined stands for a value that is no text, number or boolean. */
  readonly values: readonly (string | boolean | undefined)[]
}

function fieldOf({ key, value }: Pair): Field {
  const name = isScalar(key) ? String(key.value) : ''
  const offset = isScalar(key) ? (key.range?.[0] ?? 0) : 0
  const items = isSeq(value) ? value.items : [value]
  return { name, offset, values: items.map(scalarOf) }
}

function scalarOf(node: unknown): string | boolean | undefined {
  if (!isScalar(node)) return undefined
  const { value, source } = node
  if (typeof value === 'boolean') return value
  // As written: 1.10 is not the number 1.1.
  return typeof value === 'string' ? value : source
}

function optionOf(command: Command, name: string, place: string): Option {
  const option = command.options.find((one) => one.attributeName() === name)
  if (!option)
    throw new ExplainedError(`${place}: ${name} is no field: fields are the flags of t8s up, such as securePort`)
  if (onlyOnCommandLine.has(name)) throw new ExplainedError(`${place}: ${name} is a flag for the command line only`)
  return option
}

/** Throws an ExplainedError for a value that the flag does not take. */
function setOption(command: Command, option: Option, values: Field['values'], place: string): void {
  const name = option.attributeName()
  const failure = (why: string): ExplainedError => new ExplainedError(`${place}: ${name}: ${why}`)
  const set = (value: unknown): void => void command.setOptionValueWithSource(name, value, 'config')
  const [first] = values
  if (option.isBoolean() || option.negate) {
    if (values.length !== 1 || typeof first !== 'boolean') throw failure('it must be true or false')
    set(first)
    return
  }
  let parsed: unknown
  for (const value of values) {
    if (value === undefined) throw failure('it must be a text, a number, true or false, or a list of them')
    const text = value === true && typeof option.presetArg === 'string' ? option.presetArg : `${value}`
    if (option.argChoices && !option.argChoices.includes(text))
      throw failure(`it must be one of ${option.argChoices.join(', ')}`)
    try {
      parsed = option.parseArg ? option.parseArg(text, parsed) : text
    } catch (error) {
      if (error instanceof InvalidArgumentError) throw failure(error.message)
      throw error
    }
  }
  set(parsed)
}
