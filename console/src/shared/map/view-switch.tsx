import { useTranslation } from 'react-i18next';
import { classes } from '../../ui/classes.ts';
import { Icon } from '../../ui/icon.tsx';

interface ViewSwitchProps {
  readonly isMap: boolean;
  readonly onSwitch: () => void;
}

/** Switches between the list and the map. */
export function ViewSwitch({ isMap, onSwitch }: ViewSwitchProps) {
  const { t } = useTranslation('map');
  return (
    <fieldset className="flex overflow-hidden rounded-md border border-line-strong print:hidden">
      <legend className="sr-only">{t('view')}</legend>
      {([false, true] as const).map((map) => (
        <button
          key={String(map)}
          type="button"
          aria-pressed={isMap === map}
          onClick={() => isMap !== map && onSwitch()}
          className={classes(
            'inline-flex min-h-7.5 items-center gap-1.5 px-3 pointer-coarse:min-h-11',
            isMap === map ? 'bg-selected font-medium' : 'bg-raised hover:bg-hover',
          )}
        >
          <Icon name={map ? 'location' : 'list'} />
          {map ? t('map') : t('list')}
        </button>
      ))}
    </fieldset>
  );
}
