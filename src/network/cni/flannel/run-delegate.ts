/** Runs another CNI plug-in as a program (specification 1.1, section 4). */
import { spawn } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { errorCodes, PluginError } from '../plugin/plugin-error.ts'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Finds the plug-in in `CNI_PATH`, and resolves with its result; undefined if it printed none. Rejects with its error.
 */
export async function runDelegate(type: string, environment: Environment, input: string): Promise<object | undefined> {
  const program = programOf(type, environment.CNI_PATH ?? '')
  const child = spawn(program, [], { env: { ...environment }, stdio: ['pipe', 'pipe', 'inherit'] })
  const exit = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const [output, code] = await Promise.all([text(child.stdout), exit])
  const result = parsed(output)
  if (code === 0) return result
  const fault = typeof result === 'object' && 'msg' in result ? result : undefined
  const number = fault && 'code' in fault && typeof fault.code === 'number' ? fault.code : errorCodes.failed
  throw new PluginError(number, `the plug-in ${type}: ${fault?.msg ?? (output.trim() || `exit status ${code}`)}`)
}

function parsed(output: string): object | undefined {
  if (output.trim() === '') return undefined
  try {
    const value: unknown = JSON.parse(output)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

function programOf(type: string, path: string): string {
  const folders = path.split(':').filter((folder) => folder !== '')
  for (const folder of folders) {
    const program = join(folder, type)
    try {
      accessSync(program, constants.X_OK)
      return program
    } catch {
      // The next folder may have it.
    }
  }
  throw new PluginError(
    errorCodes.failed,
    `failed to find plugin "${type}" in path [${folders.join(' ')}]: install it there, or use bridge as delegate.type`,
  )
}
