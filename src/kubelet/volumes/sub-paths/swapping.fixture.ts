/** An attacker in a volume: a folder that becomes a symlink and back. */
import { lstatSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** Swaps the folder `real` with the symlink `evil` until the returned function is called, which resolves at the end. */
export function swapping(folder: string): () => Promise<void> {
  let isSwapping = true
  const move = (from: string, to: string) => {
    for (;;)
      try {
        return renameSync(join(folder, from), join(folder, to))
      } catch (error) {
        // A test that has failed has removed its folder.
        if (!lstatSync(join(folder, from), { throwIfNoEntry: false })) throw error
        // The code under test has made it meanwhile.
        rmSync(join(folder, to), { recursive: true, force: true })
      }
  }
  const pause = async () => {
    for (let turns = 1 + Math.floor(Math.random() * 4); turns > 0; turns--)
      await new Promise((resolve) => setImmediate(resolve))
  }
  const ended = (async () => {
    while (isSwapping) {
      move('real', 'other')
      move('evil', 'real')
      await pause()
      move('real', 'evil')
      move('other', 'real')
      await pause()
    }
  })()
  // The failure is that of the returned function.
  ended.catch(() => {})
  return () => {
    isSwapping = false
    return ended
  }
}
