/** Runs `nft` with commands as its input: all of them take effect, or none. */
import { spawn } from 'node:child_process'
import { buffer, text } from 'node:stream/consumers'

/**
 * @throws with the output of nft for commands that it refuses, and if nft is not installed.
 * @example await nft('add table inet t8s_pods\n')
 */
export async function nft(commands: string, args: readonly string[] = ['-f', '-']): Promise<string> {
  const child = spawn('nft', args, { stdio: ['pipe', 'pipe', 'pipe'] })
  const exit = new Promise<number | null>((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'ENOENT'
          ? new Error('nft is not installed, which masquerades pods and forwards host ports: apt-get install nftables')
          : error,
      ),
    )
    child.once('close', resolve)
  })
  child.stdin.on('error', () => {})
  child.stdin.end(commands)
  const [output, errors, code] = await Promise.all([buffer(child.stdout), text(child.stderr), exit])
  if (code !== 0) throw new Error(`nft: ${errors.trim()}`)
  return output.toString('utf8')
}
