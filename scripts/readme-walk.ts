/**
 * Types the commands of README.md into a terminal of a machine with nothing but Node and npm, prints how long each
 * took, and writes pictures of the terminal: sudo scripts/node scripts/readme-walk.ts [--out FOLDER] [--size 80x24]
 * [--program /usr/bin/kubectl] [--file docs/command-line.md]. Needs root, busybox and tmux.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { messageOf } from '../src/lib/message-of.ts'
import { bareMachine } from '../test/readme/bare-machine/machine.ts'
import { pictureOf, themes } from '../test/readme/bare-machine/picture.ts'
import { serveRegistry } from '../test/readme/bare-machine/registry.ts'
import { PersonAtTerminal, type TerminalSize, type TypedCommand } from '../test/readme/bare-machine/terminal.ts'
import { type ConsoleCommand, consoleCommands, lastDocumented } from '../test/readme/console-blocks.ts'

const root = join(import.meta.dirname, '..')
const variable = 'T8S_WALK_NAMESPACES'
const { values } = parseArgs({
  options: {
    out: { type: 'string', default: join(root, '.build/readme-walk') },
    size: { type: 'string', multiple: true, default: ['80x24', '120x40'] },
    program: { type: 'string', multiple: true, default: [] },
    file: { type: 'string', default: 'README.md' },
  },
})

try {
  if (process.getuid?.() !== 0) throw new Error('the machine is a root folder with mounts: run this with sudo')
  if (process.env[variable]) for (const size of values.size) await walk(parsedSize(size))
  else enterNamespaces()
} catch (error) {
  console.error(messageOf(error))
  process.exitCode = 1
}

/** Runs this program once more, where nothing reaches the machine's own mounts, network, processes and name. */
function enterNamespaces(): void {
  const enter = ['-n', '-m', '-u', '-p', '-f', '--mount-proc', '--kill-child', 'sh', '-c']
  const command = [
    'hostname laptop && ip link set lo up && exec "$@"',
    'sh',
    process.execPath,
    ...process.argv.slice(1),
  ]
  const { status } = spawnSync('unshare', [...enter, ...command], {
    stdio: 'inherit',
    env: { ...process.env, [variable]: '1' },
  })
  process.exitCode = status ?? 1
}

function parsedSize(text: string): TerminalSize {
  const [, columns, rows] = /^(\d+)x(\d+)$/.exec(text) ?? []
  if (!columns || !rows) throw new Error(`--size must be COLUMNSxROWS, such as 80x24, not ${text}`)
  return { columns: Number(columns), rows: Number(rows) }
}

async function walk(size: TerminalSize): Promise<void> {
  const ends: (() => unknown)[] = []
  const owner = { after: (end: () => unknown) => void ends.unshift(end) }
  try {
    const machine = bareMachine(owner, { registry: await serveRegistry(owner), programs: values.program })
    cpSync(join(root, 'examples'), join(machine.home, 'examples'), { recursive: true })
    const person = new PersonAtTerminal(owner, machine, size)
    await person.types('clear')
    const commands = consoleCommands(readFileSync(join(root, values.file), 'utf8'))
    for (const [index, command] of commands.entries()) {
      // The node is another one than that of README.md.
      const until = / up\b.* &$/.test(command.command) ? 'Ctrl-C stops it' : lastDocumented(command)
      try {
        const typed = await person.types(command.command, { until, deadlineMs: 60_000 })
        report(command, typed, size)
        writePictures(`${index + 1}`.padStart(2, '0'), typed, size)
      } catch (error) {
        console.log(messageOf(error))
        person.interrupts()
      }
    }
  } finally {
    for (const end of ends) await end()
  }
}

function report(
  { command, line }: ConsoleCommand,
  { firstOutputMs, durationMs, output }: TypedCommand,
  size: TerminalSize,
): void {
  const widest = Math.max(...output.slice(1).map((text) => text.trimEnd().length), 0)
  const wide = widest > size.columns ? `, wraps: ${widest} columns` : ''
  const times = `${Math.round(firstOutputMs)} ms to output, ${Math.round(durationMs)} ms in all${wide}`
  console.log(`${values.file}:${line}: $ ${command.split('\n')[0]}  (${times})`)
  for (const text of output.slice(command.split('\n').length)) console.log(`    ${text.trimEnd()}`)
}

function writePictures(name: string, { screen }: TypedCommand, size: TerminalSize): void {
  mkdirSync(values.out, { recursive: true })
  for (const [mode, theme] of Object.entries(themes))
    writeFileSync(join(values.out, `${size.columns}x${size.rows}-${mode}-${name}.svg`), pictureOf(screen, size, theme))
}
