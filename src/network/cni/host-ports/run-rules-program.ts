/** Runs `nft`, `iptables` or `iptables-restore`. */
import { spawn } from 'node:child_process'
import { buffer, text } from 'node:stream/consumers'

/**
 * Resolves with the output.
 * @throws with the error output of a program that fails; the message begins with the program's name.
 * @example await runRulesProgram('nft', ['-f', '-'], 'add table inet t8s_pods\n')
 */
export async function runRulesProgram(program: string, args: readonly string[], input = ''): Promise<string> {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, LC_ALL: 'C' } })
  const exit = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const [output, errors, code] = await Promise.all([buffer(child.stdout), text(child.stderr), exit])
  if (code !== 0) throw new Error(`${program}: ${errors.trim() || `exit status ${code}`}`)
  return output.toString('utf8')
}
