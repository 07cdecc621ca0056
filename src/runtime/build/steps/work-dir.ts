/** `WORKDIR`: sets the folder of later instructions, and creates it. */
import { posix } from 'node:path'
import type { BuildTools } from '../build-tools.ts'
import { expanded, type Instruction } from '../dockerfile/instruction.ts'
import { filesOf } from '../image-document.ts'
import { cacheKey } from '../layers/build-cache.ts'
import { TargetTree } from '../layers/target-tree.ts'
import type { StageScope } from './stage-scope.ts'
import type { StepResult } from './step-result.ts'

export async function workDir(tools: BuildTools, scope: StageScope, instruction: Instruction): Promise<StepResult> {
  const text = expanded(instruction, instruction.rest, scope.variables)
  const path = posix.resolve(scope.workingDir, text)
  scope.configure({ WorkingDir: path })
  const key = cacheKey('WORKDIR', filesOf(scope.image), path, tools.options.latest)
  const found = await tools.cached(key)
  if (found) return { result: found, isCached: true }
  const result = await tools.view(scope.image, (root) =>
    tools.makeLayer([key], async (archive) => {
      const tree = new TargetTree({ ...tools.targetOptions(archive, root), owner: { uid: 0, gid: 0 } })
      const place = tree.resolve(path)
      if (!tree.statOf(place)?.isDirectory()) tree.folder(place)
    }),
  )
  return { result, isCached: false }
}
