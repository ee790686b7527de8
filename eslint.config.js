import prettier from 'eslint-config-prettier'
import tseslint from 'typescript-eslint'

export default tseslint.config(
  { ignores: ['dist/', '**/generated/', 'node_modules/', '.touchstone/', 'contracts/artifacts/', 'contracts/cache/'] },
  ...tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        projectService: { allowDefaultProject: ['hardhat.config.ts'] },
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      // A handler may be async by contract without awaiting anything itself.
      '@typescript-eslint/require-await': 'off',
      // Services are records of closures: no function of an interface knows a `this`.
      '@typescript-eslint/unbound-method': 'off',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
    },
  },
  { files: ['**/*.js', '**/*.mjs'], ...tseslint.configs.disableTypeChecked },
  // chai's property assertions are expressions.
  { files: ['**/test/**', 'conformance/suites/**'], rules: { '@typescript-eslint/no-unused-expressions': 'off' } },
  prettier,
)
