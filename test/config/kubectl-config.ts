/** `kubectl config` of all installed versions, which must be able to read what `t8s config` writes. */
import assert from 'node:assert/strict'
import { installedKubectls } from '../support/kubectl.ts'
import { type Home, without } from './home.ts'

/** The reason to skip tests with kubectl, or false. */
export const withoutKubectl = without('kubectl')
/** All installed versions. */
export const kubectls = withoutKubectl ? [] : installedKubectls()

/** Runs `kubectl config`; all versions must print the same. */
export async function kubectlConfig(
  home: Home,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const answers = await Promise.all(kubectls.map(({ path }) => home.run(path, ['config', ...args], { env })))
  for (const { code, stderr } of answers) assert.equal(code, 0, stderr)
  assert.equal(new Set(answers.map(({ stdout }) => stdout)).size, 1)
  return answers[0]!.stdout
}
