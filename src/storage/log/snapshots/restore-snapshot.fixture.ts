/** Restores a snapshot as the command does. */
import { revisionBump } from '../log.ts'
import { createStore } from './create-store.ts'
import { openSnapshot } from './snapshot-file.ts'

export async function restoreSnapshot(file: string, directory: string): Promise<void> {
  const { state, close } = openSnapshot(file)
  try {
    await createStore(directory, state, state.revision + revisionBump)
  } finally {
    close()
  }
}
