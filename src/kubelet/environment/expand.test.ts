import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expand } from './expand.ts'

const variables = new Map([
  ['NAME', 'web'],
  ['EMPTY', ''],
  ['RECURSIVE', '$(NAME)'],
])

for (const [title, text, expected] of [
  ['no reference', 'plain', 'plain'],
  ['a reference', 'a $(NAME) b', 'a web b'],
  ['several references', '$(NAME)-$(NAME)', 'web-web'],
  ['an empty variable', '[$(EMPTY)]', '[]'],
  ['an unknown variable', '$(OTHER)', '$(OTHER)'],
  ['an escaped reference', '$$(NAME)', '$(NAME)'],
  ['an escaped dollar sign before a reference', '$$$(NAME)', '$web'],
  ['a value with a reference', '$(RECURSIVE)', '$(NAME)'],
  ['an open reference', '$(NAME', '$(NAME'],
  ['a dollar sign alone', '5$ $NAME $', '5$ $NAME $'],
] as const)
  test(`expansion: ${title}`, () => assert.equal(expand(text, variables), expected))
