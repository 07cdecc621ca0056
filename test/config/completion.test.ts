/** `t8s completion`: the scripts in their shells. */
import assert from 'node:assert/strict'
import { dirname } from 'node:path'
import { test } from 'node:test'
import type { Lifetime } from '../support/reachable-cluster.ts'
import { Home, kubeconfigOf, launcher, without } from './home.ts'
import { testTerminal, withoutTmux } from './tmux.ts'

const path = `${dirname(launcher)}:${process.env.PATH}`

/** A home with two contexts and the completion script for a shell. */
async function homeWith(t: Lifetime, shell: string): Promise<{ readonly home: Home; readonly script: string }> {
  const home = new Home(t)
  home.write('.kube/config', kubeconfigOf(['dev', 'prod:main']))
  const { code, stdout } = await home.run(launcher, ['completion', shell])
  assert.equal(code, 0)
  return { home, script: home.write(`t8s.${shell}`, stdout) }
}

test('__complete prints commands, flags, their values and context names', async (t) => {
  const { home } = await homeWith(t, 'bash')
  const complete = async (...words: readonly string[]): Promise<string[]> => {
    const { stdout } = await home.run(launcher, ['__complete', '--', ...words])
    return stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => line.split('\t')[0]!)
  }
  assert.deepEqual(await complete('conf'), ['config'])
  assert.deepEqual(await complete('config', 're'), ['rename', 'remove'])
  assert.deepEqual(await complete('config', 'use', ''), ['dev', 'prod:main'])
  assert.deepEqual(await complete('config', 'rename', '-n', 'd'), ['dev'])
  assert.deepEqual(await complete('config', 'rename', '-n', 'dev', '-t', ''), [])
  assert.deepEqual(await complete('config', 'remove', '--name=p'), ['--name=prod:main'])
  assert.deepEqual(await complete('config', 'list', '-o', ''), ['json', 'yaml', 'name'])
  assert.deepEqual(await complete('config', 'import', '--k'), ['--keep-server', '--kubeconfig'])
  assert.deepEqual(await complete('config', 'use', 'dev', ''), [])
  assert.deepEqual(await complete('config', 'use', '--kubeconfig', 'none', ''), [])
  assert.deepEqual(await complete('completion', ''), ['bash', 'zsh', 'fish'])
  assert.deepEqual(await complete('doc'), ['doctor'])
  assert.deepEqual(await complete('doctor', '--f'), ['--fix'])
  assert.deepEqual(await complete('up', '--logging-format', ''), ['text', 'json'])
  assert.ok(!(await complete('')).includes('__complete'))
})

test('the bash script completes', { skip: without('bash') }, async (t) => {
  const { home, script } = await homeWith(t, 'bash')
  const complete = async (...words: readonly string[]): Promise<string> => {
    const { stdout, stderr } = await home.run(
      'bash',
      [
        '--norc',
        '-c',
        `source ${script}; COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 )); _t8s; printf '%s\\n' "\${COMPREPLY[@]}"`,
        'bash',
        ...words,
      ],
      { env: { PATH: path } },
    )
    assert.equal(stderr, '')
    return stdout
  }
  assert.equal(await complete('t8s', 'config', 'use', ''), 'dev\nprod:main\n')
  // bash treats the text after a colon as a separate word.
  assert.equal(await complete('t8s', 'config', 'use', 'prod', ':', 'm'), 'main\n')
  assert.equal(await complete('t8s', 'config', 'remove', '--name', '=', 'd'), 'dev\n')
  assert.equal(await complete('t8s', 'doctor', '--fi'), '--fix\n')
  assert.equal(await complete('t8s', 'up', '--logging-format', '=', 'j'), 'json\n')
})

test('the zsh script completes', { skip: without('zsh') || withoutTmux }, async (t) => {
  const { home, script } = await homeWith(t, 'zsh')
  const terminal = await testTerminal(t, home)
  home.write('.zshrc', `PATH=${path}\nautoload -U compinit; compinit -u -D\nPS1='zsh> '\nsource ${script}\n`)
  terminal.types(`clear; exec zsh -i`)
  terminal.presses('Enter')
  await terminal.shows(/^zsh>/m)
  terminal.types('t8s config use p')
  terminal.presses('Tab')
  await terminal.shows(/t8s config use prod(\\)?:main/)
  terminal.presses('C-u')
  terminal.types('t8s config rem')
  terminal.presses('Tab')
  await terminal.shows(/t8s config remove/)
  terminal.presses('C-u')
  terminal.types('t8s doct')
  terminal.presses('Tab')
  await terminal.shows(/t8s doctor/)
})

test('the fish script completes', { skip: without('fish') }, async (t) => {
  const { home, script } = await homeWith(t, 'fish')
  const complete = async (line: string): Promise<string> => {
    const { stdout, stderr } = await home.run('fish', ['-c', `source ${script}; complete -C '${line}'`], {
      env: { PATH: path },
    })
    assert.equal(stderr, '')
    return stdout
  }
  assert.equal(await complete('t8s config use '), 'dev\tdev-cluster\nprod:main\tprod:main-cluster\n')
  assert.match(await complete('t8s config rem'), /^remove\tremove a context/)
  assert.match(await complete('t8s doct'), /^doctor\texamine this machine/)
  // Files, if there are no other candidates.
  home.write('some-file', '')
  assert.match(await complete('t8s config merge some-'), /some-file/)
})
