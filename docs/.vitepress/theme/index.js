/** The default theme, in the colours of the inspector's page. */

import DefaultTheme from "vitepress/theme";
import "./style.css";

export default DefaultTheme;
