/** Runs a program of a torture in namespaces of its own, which need root. It ends with this process. */
import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'

const namespaces = ['--pdeathsig', 'KILL', 'unshare', '-n', '-m', '-p', '-f', '--mount-proc', '--kill-child']

/** Resolves with true if `main`, a file and its arguments, found a fault; `folder` is kept then. */
export async function findsFault(main: readonly string[], folder: string): Promise<boolean> {
  const child = spawn('setpriv', [...namespaces, process.execPath, ...process.execArgv, ...main], { stdio: 'inherit' })
  const code = await new Promise((resolve) => child.once('close', resolve))
  if (code === 0) rmSync(folder, { recursive: true, force: true })
  else console.log(`the files are in ${folder}`)
  return code !== 0
}
